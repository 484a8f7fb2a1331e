# SPDX-License-Identifier: Apache-2.0
"""fail_each_call.py PLAN DATA FAKE OUT: lets each driver function fail, at its first and a later call, in several ways.

Every run must end by itself with exit code 1 and one message, and leave no half-written file; one that ends with 0 did not
reach the call, or met it while it was cleaning up, and must have written its result.
"""

import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

plan, data, fake, out = sys.argv[1:]
source = pathlib.Path(__file__).parents[1] / "fake" / "FakeCuda.cpp"
functions = re.findall(r"^CUresult (cu\w+)\(", source.read_text(), re.M)
functions = [name for name in functions if not name.startswith("cuGetError")]
# cuda.h's newer versions, under which the library exports them.
versioned = {name: f"{name}_v2" for name in
             ("cuDeviceTotalMem", "cuDevicePrimaryCtxRelease", "cuMemGetInfo", "cuMemAlloc", "cuMemFree",
              "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync", "cuStreamDestroy",
              "cuStreamBeginCapture", "cuEventDestroy", "cuLinkCreate", "cuLinkAddData")}
OUT_OF_MEMORY, ECC, ILLEGAL_ADDRESS, LAUNCH_FAILED, UNKNOWN = 2, 214, 700, 719, 999
LOST = (ECC, ILLEGAL_ADDRESS, LAUNCH_FAILED, UNKNOWN)


def run(case):
    function, count, error = case
    result_file = pathlib.Path(out) / f"{function}.{count}.{error}.npz"
    environment = {**os.environ, "HALFTONE_LIBRARY_PATH": fake, "HALFTONE_CUDA_CACHE": "0",
                   "HALFTONE_FAKE_CUDA": f"fail={versioned.get(function, function)}:{count}:{error}"}
    result = subprocess.run(["halftone-run", "grads", plan, "--data", data, "--out", result_file, "--device", "cuda:0"],
                            capture_output=True, text=True, timeout=60, env=environment)
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    good = result.returncode == 0 and result_file.exists() and not errors or \
        result.returncode == 1 and not result_file.exists() and len(errors) == 1
    return case, good, result


cases = [(function, count, error) for function in functions for count in (1, 3) for error in (OUT_OF_MEMORY, *LOST)]
failed, refused = 0, set()
with ThreadPoolExecutor(4) as pool:
    for case, good, result in pool.map(run, cases):
        if result.returncode == 1:
            refused.add(case[0])
        if not good:
            failed += 1
            print(f"{case}: exit {result.returncode}: {result.stderr.strip()[-400:]}")
leftovers = [path.name for path in pathlib.Path(out).iterdir() if path.suffix != ".npz"]
print(f"cases {len(cases)}, failed {failed}, leftovers {leftovers}")
print(f"functions whose failure ends a run: {len(refused)}")
sys.exit(failed > 0 or bool(leftovers))
