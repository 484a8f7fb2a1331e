# SPDX-License-Identifier: Apache-2.0
"""How lit runs the tests of this folder: which files are tests, and what their RUN lines may name.

Run one file with tools/dev/lit.sh PRESET FILE. A test names the programs as on a command line (halftone, halftone-run,
halftone-opt, FileCheck, not), the sample models as %testdata, the repository as %root, Python with numpy and onnx as %python,
CUDA's assembler as %ptxas (REQUIRES: ptxas), and its own scratch files as %t.
"""

import os

import lit.formats

config.name = "halftone"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".mlir", ".test"]
config.excludes = ["CMakeLists.txt", "Inputs"]

path = [config.halftone_bin, config.llvm_bin, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
config.substitutions += [
    ("%testdata", config.testdata),
    ("%root", os.path.dirname(config.test_source_root)),
    ("%python", config.python),
    ("%ptxas", config.ptxas),
]
if not config.ptxas.endswith("NOTFOUND"):
    config.available_features.add("ptxas")
