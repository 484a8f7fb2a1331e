#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/generated from the operators' definitions: each with its gradient rule, precision class and lowering.

  tools/dev/make_docs.py [--check]      --check: write nothing, fail where the files are not up to date
"""

import difflib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path(os.environ.get("HALFTONE_LLVM", "/usr/lib/llvm-19"))
# What makes an operator code, by the interface it declares.
LOWERINGS = {
    "ScalarOpInterface": "scalar",
    "ElementOpInterface": "element",
    "ReductionOpInterface": "reduction",
    "ScatterOpInterface": "scatter",
    "LibraryOpInterface": "library",
    "DecomposableOpInterface": "decomposed",
}
GRADIENTS = {"DifferentiableOpInterface": "rule", "NoGradient": "none", "DecomposableOpInterface": "parts"}
HEAD = """# Operators

Written by `tools/dev/make_docs.py` from `compiler/graph/ops/*.td`; do not edit.

*Gradient*: `rule` has one of its own, `parts` is decomposed before it is differentiated, `none` carries no gradient. *Precision*: the
list of the colouring algorithm that the operator starts in.
*Lowering*: `scalar`, `element`, `reduction` and `scatter` operators are fused into generated kernels, `library` operators call
one, `decomposed` ones become others after colouring.
"""


def records(td):
    """All TableGen records of one file, by name."""
    command = [LLVM / "bin/llvm-tblgen", "-dump-json", "-I", ROOT, "-I", LLVM / "include", td]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def traits(record, everything):
    """The trait strings of an op, nested lists unfolded."""
    for reference in record["traits"]:
        trait = everything[reference["def"]]
        if trait.get("traits"):
            yield from traits(trait, everything)
        yield trait.get("trait") or reference["def"]


def row(record, everything):
    names = list(traits(record, everything))
    interfaces = {n.split("::")[-2] if n.endswith("::Trait") else n for n in names}
    precision = next((n.split("PrecisionClass::")[1].split(">")[0] for n in names if "PrecisionClass::" in n), "")
    gradient = next((word for interface, word in GRADIENTS.items() if interface in interfaces), "")
    lowering = ", ".join(word for interface, word in LOWERINGS.items() if interface in interfaces)
    summary = record["summary"].strip().replace("|", "\\|")
    precision = precision.lower().replace("fp16", " (fp16)")
    return f"| `{record['opName']}` | {summary} | {gradient} | {precision} | {lowering} |"


def operators():
    lines, count = [HEAD], 0
    for td in sorted((ROOT / "compiler/graph/ops").glob("*.td")):
        everything = records(td)
        mine = [everything[n] for n in everything["!instanceof"].get("Op", [])]
        mine = sorted((r for r in mine if r["opDialect"]["def"] == "Graph_Dialect"), key=lambda r: r["opName"])
        if not mine:
            continue
        count += len(mine)
        lines += [f"## {td.stem}\n", "| operator | computes | gradient | precision | lowering |", "|---|---|---|---|---|",
                  *(row(r, everything) for r in mine), ""]
    return "\n".join([*lines, f"{count} operators."]) + "\n"


def main(arguments):
    target = ROOT / "docs/generated/operators.md"
    wanted, found = operators(), target.read_text() if target.exists() else ""
    if arguments != ["--check"]:
        target.parent.mkdir(exist_ok=True)
        target.write_text(wanted)
        return 0
    if wanted != found:
        sys.stderr.writelines(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), "committed", "sources", n=0))
        print("[docs] error: docs/generated is not up to date; run tools/dev/make_docs.py", file=sys.stderr)
        return 1
    print("[docs] docs/generated is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
