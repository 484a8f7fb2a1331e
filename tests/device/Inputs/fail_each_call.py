# SPDX-License-Identifier: Apache-2.0
"""fail_each_call.py PLAN DATA FAKE OUT: lets each driver function fail, at its first and a later call, in several ways.

Every run must end by itself with exit code 1 and one message that says what to do, and leave no half-written file; one that
ends with 0 did not reach the call, or met it while it was cleaning up, and must have written its result. What grads reaches is
met there; what only repeated steps reach (graphs), and what a checkpoint is, in train, which must then go on.
"""

import json
import os
import pathlib
import re
import shutil
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
REMEDY = re.compile(r"use a smaller batch|install |see |compile |HALFTONE_CUDA_|a kernel ran too long")
GRAPHS = {name for name in functions if "Capture" in name or name.startswith("cuGraph") and "Destroy" not in name}


def train(case):
    """Steps that are recorded and replayed, and two checkpoints; then the same without a fault, from what is left."""
    function, count, error = case
    folder = pathlib.Path(out) / f"{function}.{count}.{error}.run"
    environment = {**os.environ, "HALFTONE_LIBRARY_PATH": fake, "HALFTONE_CUDA_CACHE": "0"}
    fault = {"HALFTONE_FAKE_CUDA": f"fail={versioned.get(function, function)}:{count}:{error}"}
    command = ["halftone-run", "train", plan, "--data", data, "--device", "cuda:0", "--steps", "6", "--checkpoint-every", "2"]
    result = subprocess.run([*command, "--out", folder], capture_output=True, text=True, timeout=60,
                            env={**environment, **fault})
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    good = result.returncode == 0 and not errors or \
        result.returncode == 1 and len(errors) == 1 and bool(REMEDY.search(errors[0]))
    if folder.exists():
        good &= all(json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines())
        way = ["--resume", folder] if (folder / "checkpoint").exists() else ["--out", folder, "--overwrite"]
        again = subprocess.run([*command, *way], capture_output=True, text=True, timeout=60, env=environment)
        good &= again.returncode == 0 and (folder / "weights.safetensors").exists()
        result.stderr += again.stderr
        shutil.rmtree(folder)
    return case, good, result


def run(case):
    function, count, error = case
    result_file = pathlib.Path(out) / f"{function}.{count}.{error}.npz"
    environment = {**os.environ, "HALFTONE_LIBRARY_PATH": fake, "HALFTONE_CUDA_CACHE": "0",
                   "HALFTONE_FAKE_CUDA": f"fail={versioned.get(function, function)}:{count}:{error}"}
    result = subprocess.run(["halftone-run", "grads", plan, "--data", data, "--out", result_file, "--device", "cuda:0"],
                            capture_output=True, text=True, timeout=60, env=environment)
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    good = result.returncode == 0 and result_file.exists() and not errors or \
        result.returncode == 1 and not result_file.exists() and len(errors) == 1 and bool(REMEDY.search(errors[0]))
    return case, good, result


cases = [(function, count, error) for function in functions for count in (1, 3) for error in (OUT_OF_MEMORY, *LOST)]
steps = [(function, count, error) for function in functions for count in (1, 4) for error in (OUT_OF_MEMORY, UNKNOWN)]
failed, refused, refused_in_train = 0, set(), set()
with ThreadPoolExecutor(4) as pool:
    for of, command, todo in ((refused, run, cases), (refused_in_train, train, steps)):
        for case, good, result in pool.map(command, todo):
            if result.returncode == 1:
                of.add(case[0])
            if not good:
                failed += 1
                print(f"{command.__name__} {case}: exit {result.returncode}: {result.stderr.strip()[-400:]}")
if not GRAPHS or not GRAPHS <= refused_in_train:
    failed += 1
    print(f"no graph was recorded and replayed: {sorted(GRAPHS - refused_in_train)}")
leftovers = [path.name for path in pathlib.Path(out).iterdir() if path.suffix != ".npz"]
print(f"cases {len(cases) + len(steps)}, failed {failed}, leftovers {leftovers}")
print(f"functions whose failure ends a run: {len(refused)}")
sys.exit(failed > 0 or bool(leftovers))
