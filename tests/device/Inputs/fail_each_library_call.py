# SPDX-License-Identifier: Apache-2.0
"""fail_each_library_call.py LIBRARY PLAN LIBRARIES: lets each function of cublasLt or cudnn fail, in several ways, and looks
at the message.

It must be one, name the node and say what to do, and the exit code be 1; where a failure came only in cleaning up, or left
another way to go, 0. Once and from then on: where one engine of cuDNN fails, another may do.
"""

import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

library, plan, libraries = sys.argv[1:]
SOURCE = {"cublasLt": "FakeCublasLt.cpp", "cudnn": "FakeCudnn.cpp"}
NAME = {"cublasLt": r"cuBLASLt 13\.1\.0", "cudnn": r"cuDNN 9\.14\.0"}
# A lack of memory, an internal error, one of the run, one that no header lists.
STATUSES = {"cublasLt": (1, 3, 13, 14, 99), "cudnn": (1001, 3000, 4000, 4003, 5000, 99)}
# Only products of a batch need it.
UNUSED = {"cublasLtMatrixLayoutSetAttribute"}
# One in the first steps, one when a graph is recorded, or in a later step.
RUNNING = {"cublasLtMatmul": 9, "cudnnBackendExecute": 9}

source = pathlib.Path(__file__).parents[1] / "fake" / SOURCE[library]
functions = set(re.findall(rf"^(?:{library.lower()[:5]}\w*_t )?({library}\w+)\(", source.read_text(), re.M))
MESSAGE = re.compile(rf"error: .+: {NAME[library]}.*; .*(free|install|set|use) ")


def run(case):
    function, count, status, onward = case
    environment = {**os.environ, "HALFTONE_LIBRARY_PATH": libraries, "HALFTONE_CUDA_CACHE": "0", "ASAN_OPTIONS": "detect_leaks=0",
                   "HALFTONE_FAKE_LIBRARY": f"{function}:{count}:{status}{onward}"}
    result = subprocess.run(["halftone-run", "bench", plan, "--device", "cuda:0"], capture_output=True, text=True,
                            timeout=60, env=environment)
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    good = result.returncode == len(errors) and result.returncode in (0, 1) and all(map(MESSAGE.search, errors))
    return function, errors, good, result


cases = [(function, count, status, onward) for function in sorted(functions)
         for count in (1, 3, 8, RUNNING.get(function, 21)) for status in STATUSES[library]
         for onward in ("", "+")]
failed, refused = 0, set()
with ThreadPoolExecutor(4) as pool:
    for case, (function, errors, good, result) in zip(cases, pool.map(run, cases)):
        if errors:
            refused.add(function)
        if not good:
            failed += 1
            print(f"{case}: exit {result.returncode}: {result.stderr.strip()[-400:]}")
silent = {name for name in functions if re.search(r"Destroy|Version|String", name)} | UNUSED
not_reached = sorted(functions - silent - refused)
print(f"functions {len(functions)}, failed {failed}, not reached {not_reached}")
sys.exit(failed > 0 or bool(not_reached) or not functions)
