#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what tools/dev/gpu_check.sh brought back with PyTorch's references and with the host reference.

  tools/dev/compare_samples.py CHECK... PLANS [--bin build/release/bin] [-o TABLE.json]

CHECK is gpu_check's OUT (several where it was called several times), PLANS what tools/dev/sample_plans.py wrote. For every plan: the error of all gradients and of the
worst parameter as a share of its bound, the largest deviation of five losses (in FP32 relative to the loss), whether the repeat
without graphs is equal to the bit, whether an overflowed step left everything but the loss scale as it was, and how many steps of a trace disagree.
Bounds are those of tests/e2e/Bounds.h. Exit code 1 where one is missed, and where a measurement that a plan must have, a gradient
or a whole plan is missing.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys

import venv_python  # noqa: F401

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "testdata" / "models"
# Gradient error, five losses; (bf16, fp16).
BOUNDS = {
    "cnn": ((3e-2, 2e-2), (1e-2, 5e-3)),
    "resnet": ((0.35, 8e-2), (0.2, 4e-2)),
    "digits_cnn": ((0.15, 2e-2), (0.1, 5e-3)),
    None: ((1.5e-2, 5e-3), (2.5e-3, 1e-3)),
}
# Parameters that a file has under another name than the reference.
TIED = {"m.lm_head.weight": "m.transformer.wte.weight"}


def tensors(path):
    """The bytes of each tensor of a .safetensors file."""
    content = path.read_bytes()
    end = 8 + struct.unpack("<Q", content[:8])[0]
    entries = json.loads(content[8:end])
    return {name: content[end + entry["data_offsets"][0]:end + entry["data_offsets"][1]]
            for name, entry in entries.items() if name != "__metadata__"}


def compare_gradients(reference, path, row):
    got = dict(np.load(path))
    for name, known in TIED.items():
        if f"grad.{name}" in got:
            got[f"grad.{known}"] = got.pop(f"grad.{name}")
    names = [name for name in got if name.startswith("grad.") and name in reference]
    row["gradients"] = len(names)
    wrong = [name for name in got if name.startswith("grad.") and name not in reference]
    wrong += [name for name in reference if name.startswith("grad.") and name not in got]
    if wrong or not names:
        row["wrong_gradients"] = sorted(wrong)
        return
    expected = {name: reference[name].astype(np.float64) for name in names}
    total = np.sqrt(sum(np.sum(value**2) for value in expected.values()))
    errors = {name: np.linalg.norm(got[name] - expected[name]) for name in names}
    row["loss_error"] = float(abs(got["loss"] - reference["loss64"]) / abs(reference["loss64"]))
    row["gradient_error"] = float(np.sqrt(sum(error**2 for error in errors.values())) / total)
    row["worst_of_fp32_bound"] = float(
        np.max([errors[name] / (1e-5 * np.linalg.norm(expected[name]) + 3e-7 * total) for name in names]))


def compare_weights(reference, optimizer, path, row):
    """FP32: the weights after five steps, where the gradient is more than rounding noise."""
    gradients = {name[5:]: np.abs(reference[name]) for name in reference if name.startswith("grad.")}
    living = 1e-5 * max(np.max(value) for value in gradients.values())
    worst = 0
    weights = {TIED.get(name, name): content for name, content in tensors(path).items()}
    names = [name for name in gradients if name in weights]
    if len(names) < len(gradients):
        return
    for name in names:
        content = weights[name]
        expected = reference[f"{optimizer}.{name}"].ravel()
        error = np.abs(np.frombuffer(content, np.float32) - expected) / max(np.max(np.abs(expected)), 1e-3)
        worst = float(np.maximum(worst, np.max(error[gradients[name].ravel() > living], initial=0)))  # a NaN stays
    row["weights_error"] = worst


def check_overflow(check, plan, row):
    """The whole state before a skipped step, and after it: only the loss scale halves, and what reports the step says so."""
    before, after = (tensors(next((check / f"{plan}.{run}/checkpoint").glob("*.safetensors"))) for run in ("run", "run2"))
    changed = []
    for name in before:
        old, new = (np.frombuffer(arrays[name], np.float32) for arrays in (before, after))
        for index in np.nonzero(old.view(np.uint32) != new.view(np.uint32))[0]:
            changed.append("loss_scale" if new[index] == old[index] / 2 else
                           "found_inf" if (old[index], new[index]) == (0, 1) else
                           "grad_norm" if not np.isfinite(new[index]) else f"{name}[{index}]")
    weights, same = (tensors(check / f"{plan}.{run}/weights.safetensors") for run in ("run", "run2"))
    row["changed"] = sorted(changed)
    row["weights_unchanged"] = weights == same
    return row["changed"] == ["found_inf", "grad_norm", "loss_scale"] and row["weights_unchanged"]


def check_trace(binary, ir, folder, program, row):
    result = subprocess.run([binary / "halftone-check-trace", ir, folder, "--program", program], capture_output=True,
                            text=True)
    lines = result.stdout.splitlines()
    report = row[f"{program}_steps"] = json.loads(lines[-1]) if lines else {"error": result.stderr.strip()}
    report.pop("program", None)
    if result.returncode:
        report["mismatches"] = lines[:3]
    return result.returncode == 0


def within(row, model, precision):
    if precision == "fp32":
        bounds = [("loss_error", 1e-5), ("worst_of_fp32_bound", 1), ("losses_error", 1e-5), ("weights_error", 1e-4)]
    else:
        gradient, losses = BOUNDS.get(model, BOUNDS[None])[precision == "fp16"]
        bounds = [("gradient_error", gradient), ("losses_error", losses)]
    return all(key in row and row[key] <= bound for key, bound in bounds)


def read_checks(folders):
    """The calls' gpu_check.json, and of each plan the runs and the folder of each command."""
    checks, runs = [], {}
    for folder in folders:
        check = json.loads((folder / "gpu_check.json").read_text())
        checks.append(check)
        for run in check["runs"]:
            found, where = runs.setdefault(run["plan"], {}).setdefault(run["command"], ([], folder))
            if where != folder:
                sys.exit(f"{run['plan']} {run['command']} is in {where} and in {folder}")
            found.append(run)
    return checks, runs


def of_all(checks, key):
    """What all calls must agree on."""
    values = [check.get(key) for check in checks]
    if any(value != values[0] for value in values):
        sys.exit(f"the folders come from several runs of which '{key}' differs: {values}")
    return values[0]


def header(checks, plans):
    """Where the numbers come from."""
    device = next((device for device in (of_all(checks, "devices") or {}).get("devices", []) if device["target"] == "cuda"), None)
    made = plans / "command.txt"
    tests = [check["tests"] for check in checks if "tests" in check]
    return {"date": max(check["date"] for check in checks), "revision": of_all(checks, "revision"), "device": device,
            "commands": {"plans": made.read_text().strip() if made.exists() else None,
                         "check": "; ".join(check.get("command", "") for check in checks),
                         "compare": "tools/dev/compare_samples.py " + "CHECK " * len(checks) + "PLANS -o TABLE.json"},
            "tests": {key: sum(part[key] for part in tests) for key in tests[0]} if tests else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", type=pathlib.Path, nargs="+")
    parser.add_argument("plans", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    options = parser.parse_args()
    checks, runs = read_checks(options.check)
    table = header(checks, options.plans)
    rows = []
    for plan in sorted({path.stem for path in options.plans.glob("*.plan")} | set(runs)):
        commands = runs.get(plan, {})
        overflow = plan.startswith("overflow.")
        row = {"plan": plan, "failed": [name for name, (found, _) in commands.items() if any(run.get("exit", 0) for run in found)]}
        ir = options.plans / "ir" / f"{plan}.mlir"
        missing = [name for name in ("grads", "train", "repeat") + ("trace",) * ir.exists() if name not in commands]
        if missing:
            row["missing"] = missing
        good = not row["failed"] and not missing
        model, _, precision, optimizer = plan.split(".") if not overflow else (plan.split(".")[1], "", "", "")
        reference = dict(np.load(MODELS / f"{model}.npz"))
        if "repeat" in commands:
            row["bit_equal"] = commands["repeat"][0][0]["bit_equal"]
            good &= row["bit_equal"]
        if overflow:
            good = good and check_overflow(commands["train"][1], plan, row)
        elif "loss64" in reference:
            if "grads" in commands and "grads" not in row["failed"]:
                compare_gradients(reference, commands["grads"][1] / f"{plan}.grads.npz", row)
            if "train" in commands and "train" not in row["failed"]:
                (train,), folder = commands["train"]
                expected = reference[f"{optimizer}.losses"]
                losses = np.array(train["result"]["loss"][:len(expected)])
                unit = np.abs(expected) if precision == "fp32" else 1
                if len(losses) == len(expected):
                    row["losses_error"] = float(np.max(np.abs(losses - expected) / unit))
                if precision == "fp32":
                    compare_weights(reference, optimizer, folder / f"{plan}.run/weights.safetensors", row)
            good &= within(row, model, precision)
        for program in ("train", "eval") if "trace" in commands else ():
            good &= check_trace(options.bin, ir, commands["trace"][1] / f"{plan}.{program}.steps", program, row)
        row["good"] = bool(good)
        rows.append(row)
        print(" ".join(f"{key}={value:.2g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()),
              flush=True)
    wrong = sum(not row["good"] for row in rows)
    table |= {"plans": len(rows), "outside_their_bounds": wrong}
    if options.out:
        lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        options.out.write_text(f'{json.dumps(table, indent=1)[:-2]},\n "rows": [\n{lines}\n ]\n}}\n')
    print(f"{len(rows)} plans, {wrong} outside their bounds")
    return wrong > 0 or not rows


if __name__ == "__main__":
    sys.exit(main())
