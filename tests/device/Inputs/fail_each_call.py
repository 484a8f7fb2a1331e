# SPDX-License-Identifier: Apache-2.0
"""fail_each_call.py PLAN DATA FAKE OUT: lets each driver function fail, at its first and a later call, in several ways.

Every run must end by itself with exit code 1 and one message that says what to do, and leave no half-written file; one that
ends with 0 did not reach the call, or met it while it was cleaning up, and must have written its result. `grads` queues its
steps once; `train` also records and replays them as graphs, and writes checkpoints, from which a new run must be able to go on.
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
out = pathlib.Path(out)
source = pathlib.Path(__file__).parents[1] / "fake" / "FakeCuda.cpp"
functions = re.findall(r"^CUresult (cu\w+)\(", source.read_text(), re.M)
functions = [name for name in functions if not name.startswith("cuGetError")]
# cuda.h's newer versions, under which the library exports them.
versioned = {name: f"{name}_v2" for name in
             ("cuDeviceTotalMem", "cuDevicePrimaryCtxRelease", "cuMemGetInfo", "cuMemAlloc", "cuMemFree",
              "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync", "cuStreamDestroy",
              "cuStreamBeginCapture", "cuEventDestroy", "cuLinkCreate", "cuLinkAddData")}
GRAPHS = {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}
# Those that only steps call, so that the message names the nodes.
STEPS = GRAPHS | {"cuLaunchKernel", "cuEventSynchronize"}
OUT_OF_MEMORY, ECC, ILLEGAL_ADDRESS, DESTROYED, LAUNCH_FAILED, MPS, UNDEFINED, UNKNOWN = 2, 214, 700, 709, 719, 806, 888, 999
ERRORS = {"grads": (OUT_OF_MEMORY, ECC, ILLEGAL_ADDRESS, LAUNCH_FAILED, UNKNOWN),
          "train": (OUT_OF_MEMORY, DESTROYED, MPS, UNDEFINED)}
# How a request begins: every remedy is one, behind a semicolon or, of a missing library, a colon.
REMEDY = re.compile(r"[;,:] (compile|free|install|run|see|set|use) ")
NODE = re.compile(r"error: (grad of )?(loss|optimizer|scale|bend|shift): |it happened in (the step of|steps \d)|of node '")


def halftone(*arguments, fault=""):
    # What could not be freed is no leak of the program (ASAN_OPTIONS counts in a build with the sanitizer).
    environment = {**os.environ, "HALFTONE_LIBRARY_PATH": fake, "HALFTONE_CUDA_CACHE": "0", "HALFTONE_FAKE_CUDA": fault,
                   "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(["halftone-run", *arguments], capture_output=True, text=True, timeout=60, env=environment)


def resumes(folder):
    """Whether the run's folder is whole: a checkpoint, where there is one, and nothing left behind, and a run goes on from it."""
    if not (folder / "checkpoint" / "checkpoint.json").exists():
        return not list(folder.glob("checkpoint/*"))
    names = [path.name for path in folder.rglob("*")]
    arenas = [name for name in names if name.startswith("arenas-")]
    expected = {"run.json", "metrics.jsonl", ".lock", "checkpoint", "checkpoint.json", "weights.safetensors", *arenas}
    json.loads((folder / "checkpoint" / "checkpoint.json").read_text())
    copy = folder.with_suffix(".resumed")
    shutil.copytree(folder, copy)
    again = halftone("train", plan, "--data", data, "--device", "cuda:0", "--steps", "6", "--resume", copy)
    whole = again.returncode == 0 and (copy / "weights.safetensors").exists()
    shutil.rmtree(copy)
    return whole and len(arenas) == 1 and set(names) <= expected


def run(case):
    command, function, count, error = case
    result_path = out / f"{command}.{function}.{count}.{error}.npz"
    arguments = [command, plan, "--data", data, "--out", result_path, "--device", "cuda:0"]
    if command == "train":
        arguments += ["--steps", "5", "--checkpoint-every", "2"]
    result = halftone(*arguments, fault=f"fail={versioned.get(function, function)}:{count}:{error}")
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    written = result_path / "weights.safetensors" if command == "train" else result_path
    problems = []
    if result.returncode not in (0, 1):
        problems.append("exit code")
    if (result.returncode == 0) != written.exists():
        problems.append("result")
    if len(errors) != result.returncode:
        problems.append("messages")
    if result.returncode == 1 and not REMEDY.search(result.stderr):
        problems.append("remedy")
    if result.returncode == 1 and function in STEPS and not NODE.search(result.stderr):
        problems.append("node")
    if command == "train" and not resumes(result_path):
        problems.append("files")
    return case, problems, result


cases = [(command, function, count, error) for command in ERRORS for function in functions for count in (1, 3)
         for error in ERRORS[command]]
failed, refused = 0, {command: set() for command in ERRORS}
with ThreadPoolExecutor(4) as pool:
    for case, problems, result in pool.map(run, cases):
        if result.returncode == 1:
            refused[case[0]].add(case[1])
        if problems:
            failed += 1
            print(f"{case}: {', '.join(problems)}: exit {result.returncode}: {result.stderr.strip()[-400:]}")
leftovers = [path.name for path in out.iterdir() if path.suffix != ".npz"]
unreached = sorted(STEPS - refused["train"])
print(f"cases {len(cases)}, failed {failed}, leftovers {leftovers}, functions of steps not reached {unreached}")
print(f"functions whose failure ends a run: {len(refused['grads'])} of grads, {len(refused['train'])} of train")
sys.exit(failed > 0 or bool(leftovers) or bool(unreached))
