# SPDX-License-Identifier: Apache-2.0
"""How lit runs the tests of this folder: which files are tests, and what their RUN lines may name.

Run one file with tools/dev/lit.sh PRESET FILE. A test names the programs as on a command line (halftone, halftone-run,
halftone-opt, FileCheck, not), the sample models as %testdata, the repository as %root, Python with numpy and onnx as %python,
CUDA's assembler as %ptxas (REQUIRES: ptxas), the stand-ins for NVIDIA's libraries as %fake (REQUIRES: fake-cuda), and its own
scratch files as %t. `%python %exit N COMMAND` fails where COMMAND ends with another exit code than N.
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
# compile's default target is a GPU that is there; the tests want the same everywhere.
config.environment["CUDA_VISIBLE_DEVICES"] = ""
# Compiled kernels are not kept among the user's own.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.substitutions += [
    ("%testdata", config.testdata),
    ("%root", os.path.dirname(config.test_source_root)),
    ("%python", config.python),
    ("%ptxas", config.ptxas),
    ("%fake", config.fake),
    ("%exit", os.path.join(config.test_source_root, "expect_exit.py")),
]
if not config.ptxas.endswith("NOTFOUND"):
    config.available_features.add("ptxas")
if config.fake:
    config.available_features.add("fake-cuda")
