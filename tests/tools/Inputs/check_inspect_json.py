# SPDX-License-Identifier: Apache-2.0
"""Checks the shape of `halftone inspect --json` that docs/architecture.md promises."""

import json
import sys

plan = json.load(open(sys.argv[1]))
for node in plan["nodes"]:
    assert set(node) >= {"name", "op", "color", "stored", "reason", "origin", "namespace", "inputs", "outputs"}, node
    assert set(node["reason"]) == {"rule", "source", "path"}, node
    assert node["origin"] in ("forward", "backward", "loss", "optimizer"), node
    assert node["color"] in ("", "fp32", "tf32", "fp16", "bf16"), node
assert {node["origin"] for node in plan["nodes"]} == {"forward", "backward", "loss", "optimizer"}
names = [node["name"] for node in plan["nodes"]]
assert len(names) == len(set(names)), "node names repeat"
for cast in plan["casts"]:
    assert set(cast) == {"value", "from", "to", "consumers"}, cast
assert all(parameter["bytes"] > 0 for parameter in plan["parameters"])
assert plan["memory"]["total_bytes"] == sum(arena["bytes"] for arena in plan["memory"]["arenas"])
