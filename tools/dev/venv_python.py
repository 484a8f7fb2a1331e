# SPDX-License-Identifier: Apache-2.0
"""Imported before numpy and onnx: starts the script again with the Python of tools/setup.sh where they are missing."""

import importlib.util
import os
import pathlib
import sys

if not all(map(importlib.util.find_spec, ("numpy", "onnx"))):
    venv = pathlib.Path(os.environ.get("HALFTONE_CACHE", pathlib.Path.home() / ".cache/halftone")) / "venv"
    python = venv / "bin/python"
    if pathlib.Path(sys.prefix).resolve() == venv.resolve() or not python.exists():
        sys.exit("numpy or onnx is missing; tools/setup.sh installs them")
    os.execv(python, [str(python), *sys.argv])
