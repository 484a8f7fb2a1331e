# SPDX-License-Identifier: Apache-2.0
"""fail_each_product.py PLAN LIBRARIES: lets each function of cuBLASLt fail, in several ways, and looks at the message.

It must be one, name the node and say what to do, and the exit code be 1; where a failure came only in cleaning up, 0.
"""

import os
import pathlib
import re
import subprocess
import sys

plan, libraries = sys.argv[1:]
source = pathlib.Path(__file__).parents[1] / "fake" / "FakeCublasLt.cpp"
functions = re.findall(r"^(?:cublasStatus_t )?(cublasLt\w+)\(", source.read_text(), re.M)
functions += re.findall(r"^cublasStatus_t\n(cublasLt\w+)\(", source.read_text(), re.M)
functions = sorted({*functions} - {"cublasLtGetVersion", "cublasLtGetStatusString"})
# The plan's products are of no batch, and so have layouts without attributes.
unused = {name for name in functions if name.endswith("Destroy")} | {"cublasLtMatrixLayoutSetAttribute"}
NOT_INITIALIZED, ALLOC_FAILED, INTERNAL_ERROR, UNDEFINED = 1, 3, 14, 99
MESSAGE = re.compile(r"error: .+: cuBLASLt 13\.1\.0: .*; .*(free|install|set|use) ")
failed, refused = 0, set()
for function in functions:
    # A first and a later product; the ninth runs when a graph is recorded, or in a later step.
    for count in (1, 3, *((9,) if function == "cublasLtMatmul" else ())):
        for status in (NOT_INITIALIZED, ALLOC_FAILED, INTERNAL_ERROR, UNDEFINED):
            environment = {**os.environ, "HALFTONE_LIBRARY_PATH": libraries, "HALFTONE_CUDA_CACHE": "0",
                           "HALFTONE_FAKE_LIBRARY": f"{function}:{count}:{status}"}
            result = subprocess.run(["halftone-run", "bench", plan, "--device", "cuda:0"], capture_output=True, text=True,
                                    timeout=60, env=environment)
            errors = [line for line in result.stderr.splitlines() if "error:" in line]
            good = result.returncode == len(errors) and result.returncode in (0, 1) and all(map(MESSAGE.search, errors))
            if errors:
                refused.add(function)
            if not good:
                failed += 1
                print(f"{function}:{count}:{status}: exit {result.returncode}: {result.stderr.strip()[-400:]}")
not_reached = sorted({*functions} - unused - refused)
print(f"functions {len(functions)}, failed {failed}, not reached {not_reached}")
sys.exit(failed > 0 or bool(not_reached))
