# SPDX-License-Identifier: Apache-2.0
"""Prints what is wrong with the models in a folder, then their number: each passes ONNX's checker and names no host path."""

import pathlib
import sys

import onnx

root, folder = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(root / "tools"))
import export_torch

models = sorted(folder.glob("*.onnx"))
for path in models:
    model = onnx.load(path)
    onnx.checker.check_model(model)
    before = model.SerializeToString(deterministic=True)
    if export_torch.clean(model).SerializeToString(deterministic=True) != before:
        print(f"{path.name}: has metadata or doc strings that tools/export_torch.py drops")
print(f"{len(models)} models")
