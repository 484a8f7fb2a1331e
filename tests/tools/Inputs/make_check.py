# SPDX-License-Identifier: Apache-2.0
"""make_check.py OUT: what gpu_check.sh would bring back of mlp and of gpt2, in OUT/a and OUT/b, with empty
plans in OUT/plans. Then breaks copies of it, one folder a fault."""

import json
import pathlib
import shutil
import struct
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = pathlib.Path(sys.argv[1])


def safetensors(path, arrays):
    entries, blob = {}, b""
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, np.float32).tobytes()
        entries[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    head = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + blob)


def write(folder, plan, drop=None):
    model, _, _, optimizer = plan.split(".")
    reference = dict(np.load(ROOT / "testdata/models" / f"{model}.npz"))
    names = [name[5:] for name in reference if name.startswith("grad.") and name != drop]
    (folder / f"{plan}.run").mkdir(parents=True)
    written = {name: "m.lm_head.weight" if name == "m.transformer.wte.weight" else name for name in names}  # tied
    np.savez(folder / f"{plan}.grads.npz", loss=reference["loss64"],
             **{f"grad.{written[name]}": reference[f"grad.{name}"] for name in names})
    safetensors(folder / f"{plan}.run/weights.safetensors", {written[name]: reference[f"{optimizer}.{name}"] for name in names})
    losses = reference[f"{optimizer}.losses"].tolist()
    runs = [{"plan": plan, "command": "grads", "exit": 0}, {"plan": plan, "command": "repeat", "bit_equal": True},
            {"plan": plan, "command": "train", "exit": 0, "result": {"loss": losses}}]
    check = {"date": "2026-01-01T00:00:00Z", "revision": "abc", "command": "tools/dev/gpu_check.sh --plans PLANS --out CHECK",
             "devices": {"devices": [{"id": "cpu", "target": "cpu"}, {"id": "cuda:0", "target": "cuda"}], "missing": {}},
             "tests": {"exit": 0, "passed": 3, "failed": 0, "skipped": 1}, "runs": runs, "failures": 0}
    (folder / "gpu_check.json").write_text(json.dumps(check))


MLP, GPT2 = "mlp.raw20.fp32.sgd", "gpt2.raw20.fp32.adamw"
(OUT / "plans").mkdir(parents=True)
(OUT / "plans/command.txt").write_text("tools/dev/sample_plans.py PLANS\n")
for plan in (MLP, GPT2):
    (OUT / f"plans/{plan}.plan").touch()
write(OUT / "a", MLP)
write(OUT / "b", GPT2)
write(OUT / "half", MLP, drop=next(name for name in np.load(ROOT / "testdata/models/mlp.npz") if name.startswith("grad.")))
shutil.copytree(OUT / "a", OUT / "short")
check = json.loads((OUT / "short/gpu_check.json").read_text())
check["runs"] = [run for run in check["runs"] if run["command"] != "train"]
(OUT / "short/gpu_check.json").write_text(json.dumps(check))
