#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what tools/dev/gpu_check.sh brought back with PyTorch's references and with the host reference.

  tools/dev/compare_samples.py CHECK... PLANS [--bin build/release/bin] [-o TABLE.json]

CHECK is gpu_check's OUT (several, where the plans were run in parts), PLANS what tools/dev/sample_plans.py wrote. For every plan: the error of all gradients and of the
worst parameter as a share of its bound, the largest deviation of five losses (in FP32 relative to the loss), whether the repeat
without graphs is equal to the bit, whether an overflowed step left everything but the loss scale as it was, and how many steps of a trace disagree.
Bounds are those of tests/e2e/Bounds.h. Exit code 1 where one is missed, or where a plan, a gradient or a measurement is missing.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys

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
COMMANDS = {
    "plans": "tools/dev/sample_plans.py PLANS --target cuda:sm_90",
    "check": "tools/dev/gpu_check.sh --plans PLANS --out CHECK",
    "compare": "tools/dev/compare_samples.py CHECK... PLANS -o TABLE.json",
}


def as_text(summary):
    """JSON with a line for each row."""
    rows = ",\n".join("  " + json.dumps(row) for row in summary["rows"])
    return json.dumps({**summary, "rows": []}, indent=1).replace('"rows": []', f'"rows": [\n{rows}\n ]') + "\n"


def tensors(path):
    """The bytes of each tensor of a .safetensors file."""
    content = path.read_bytes()
    end = 8 + struct.unpack("<Q", content[:8])[0]
    entries = json.loads(content[8:end])
    return {name: content[end + entry["data_offsets"][0]:end + entry["data_offsets"][1]]
            for name, entry in entries.items() if name != "__metadata__"}


def compare_gradients(reference, path, row):
    got = np.load(path)
    names = [name for name in reference if name.startswith("grad.")]
    row["missing_gradients"] = sorted(set(names) - set(got))
    names = [name for name in names if name in got]
    expected = {name: reference[name].astype(np.float64) for name in names}
    total = np.sqrt(sum(np.sum(value**2) for value in expected.values()))
    errors = {name: np.linalg.norm(got[name] - expected[name]) for name in names}
    row["loss_error"] = float(abs(got["loss"] - reference["loss64"]) / abs(reference["loss64"]))
    row["gradient_error"] = float(np.sqrt(sum(error**2 for error in errors.values())) / total)
    row["worst_of_fp32_bound"] = float(
        max(errors[name] / (1e-5 * np.linalg.norm(expected[name]) + 3e-7 * total) for name in names))
    row["gradients"] = len(names)


def compare_weights(reference, optimizer, path, row):
    """FP32: the weights after five steps, where the gradient is more than rounding noise."""
    gradients = {name[5:]: np.abs(reference[name]) for name in reference if name.startswith("grad.")}
    living = 1e-5 * max(np.max(value) for value in gradients.values())
    worst = 0
    for name, content in tensors(path).items():
        if name not in gradients or f"{optimizer}.{name}" not in reference:
            continue
        expected = reference[f"{optimizer}.{name}"].ravel()
        error = np.abs(np.frombuffer(content, np.float32) - expected) / max(np.max(np.abs(expected)), 1e-3)
        worst = max(worst, float(np.max(error[gradients[name].ravel() > living], initial=0)))
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
    return not row["missing_gradients"] and all(row.get(key, np.inf) <= bound for key, bound in bounds)


def compare(plan, commands, check, options):
    """The table's row of a plan that was run in the folder `check`."""
    overflow = plan.startswith("overflow.")
    row = {"plan": plan, "failed": [name for name, run in commands.items() if run.get("exit", 0)]}
    model, _, precision, optimizer = plan.split(".") if not overflow else (plan.split(".")[1], "", "", "")
    reference = dict(np.load(MODELS / f"{model}.npz"))
    missing = [name for name in ("grads", "train", "repeat") if name not in commands]
    good = not row["failed"] and not missing
    if missing:
        row["missing"] = missing
    if "repeat" in commands:
        row["bit_equal"] = commands["repeat"]["bit_equal"]
        good &= row["bit_equal"]
    if overflow:
        good &= check_overflow(check, plan, row)
    elif "loss64" in reference and not missing:
        compare_gradients(reference, check / f"{plan}.grads.npz", row)
        if not commands["train"]["exit"]:
            expected = reference[f"{optimizer}.losses"]
            losses = np.array(commands["train"]["result"]["loss"][:len(expected)])
            unit = np.abs(expected) if precision == "fp32" else 1
            row["losses_error"] = float(np.max(np.abs(losses - expected) / unit))
            if precision == "fp32":
                compare_weights(reference, optimizer, check / f"{plan}.run/weights.safetensors", row)
        good &= within(row, model, precision)
    ir = options.plans / "ir" / f"{plan}.mlir"
    for program in ("train", "eval") if ir.exists() else ():
        good &= check_trace(options.bin, ir, check / f"{plan}.{program}.steps", program, row)
    row["good"] = bool(good)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checks", type=pathlib.Path, nargs="+")
    parser.add_argument("plans", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    checks = [json.loads((folder / "gpu_check.json").read_text()) for folder in options.checks]
    rows = []
    for folder, check in zip(options.checks, checks):
        runs = {}
        for run in check["runs"]:
            runs.setdefault(run["plan"], {})[run["command"]] = run
        for plan, commands in runs.items():
            rows.append(row := compare(plan, commands, folder, options))
            print(" ".join(f"{key}={value:.2g}" if isinstance(value, float) else f"{key}={value}"
                           for key, value in row.items()), flush=True)
    missing = sorted({path.stem for path in options.plans.glob("*.plan")} - {row["plan"] for row in rows})
    wrong = sum(not row["good"] for row in rows)
    summary = {"date": checks[0]["date"], "revision": sorted({check["revision"] for check in checks}),
               "devices": checks[0]["devices"]["devices"], "commands": COMMANDS,
               "tests": next((check["tests"] for check in checks if "tests" in check), None), "plans": len(rows),
               "plans_not_run": missing, "outside_their_bounds": wrong, "rows": rows}
    if options.out:
        options.out.write_text(as_text(summary))
    print(f"{len(rows)} plans, {wrong} outside their bounds, {len(missing)} not run")
    return wrong > 0 or bool(missing)


if __name__ == "__main__":
    sys.exit(main())
