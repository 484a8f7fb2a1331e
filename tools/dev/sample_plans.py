#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the sample models of testdata for a device and writes what tools/dev/gpu_check.sh takes to another machine.

  tools/dev/sample_plans.py OUT [--target cuda:sm_90] [--bin build/release/bin] [--steps-only] [NAME...]

For each model, variant, precision (fp32, bf16, fp16) and optimizer (sgd, adamw) of the references: OUT/NAME.VARIANT.PRECISION.
OPTIMIZER.plan and its weights, OUT/NAME.npz (the batch), and for the plans that trace (raw20, adamw) the buffer IR that
halftone-check-trace reads, in OUT/ir. Also OUT/overflow.NAME.plan, whose loss scale doubles at every step until FP16
overflows, and OUT/command.txt, for the table of compare_samples.py. --steps-only: no more than the plans that trace.
"""

import argparse
import pathlib
import subprocess
import sys

import venv_python  # noqa: F401

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "testdata" / "models"
VARIANTS = {
    "mlp": ("raw20", "raw20train", "script17train", "dynamo18", "dynamo23"),
    "cnn": ("raw20", "raw20train", "script17train"),
    "resnet": ("raw20", "raw20train", "script17train"),
    "bert": ("raw20", "raw20train", "script17train"),
    "gpt2": ("raw20", "raw20train"),
    "bert_masked": ("raw20", "script17train"),
    "self_loss": ("raw20", "script17train"),
    "digits_cnn": ("raw20", "script17train"),
    "dropout": ("raw20",),
}
SYMBOLIC_BATCH = ("bert_masked", "self_loss", "digits_cnn", "dropout")
PRECISIONS = ("fp32", "bf16", "fp16")
# As testdata/README.md says of the references.
OPTIMIZERS = {
    "sgd": ["--optimizer", "sgd", "--lr", "0.05", "--momentum", "0.9", "--weight-decay", "1e-4"],
    "adamw": ["--optimizer", "adamw", "--lr", "1e-3", "--weight-decay", "0.01"],
}
OVERFLOW = ["--scale-interval", "1", "--scale-max", "1e38"]


def write_data(name, out):
    """The reference's batch, under the graph's own input names."""
    arrays = np.load(MODELS / f"{name}.npz")
    graph = onnx.load(MODELS / f"{name}.raw20.onnx").graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in weights]
    data = {input: arrays[f"in.{index}"] for index, input in enumerate(inputs)}
    if "target" in arrays:
        data["target"] = arrays["target"]
    np.savez(out / f"{name}.npz", **data)
    return len(data[inputs[0]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=list(VARIANTS))
    parser.add_argument("--target", default="cuda:sm_90")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--steps-only", action="store_true")
    options = parser.parse_intermixed_args()
    ir = options.out / "ir"
    ir.mkdir(parents=True, exist_ok=True)
    words = [*options.names] if options.names != list(VARIANTS) else []
    words += ["--target", options.target] + ["--steps-only"] * options.steps_only
    (options.out / "command.txt").write_text(" ".join(["tools/dev/sample_plans.py PLANS", *words]) + "\n")
    for name in options.names:
        rows = write_data(name, options.out)

        def compile(variant, precision, optimizer, *more, stdout=subprocess.DEVNULL):
            command = [options.bin / "halftone", "compile", MODELS / f"{name}.{variant}.onnx", "--target", options.target,
                       "--precision", precision, *OPTIMIZERS[optimizer], *more]
            if name in SYMBOLIC_BATCH:
                command += ["--batch", str(rows)]
            if name == "self_loss":
                command += ["--loss", "output:loss"]
            result = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True)
            if result.returncode:
                sys.exit(f"{' '.join(map(str, command))}: {result.stderr}")

        for variant in VARIANTS[name]:
            for precision in PRECISIONS:
                for optimizer in OPTIMIZERS:
                    traced = variant == "raw20" and optimizer == "adamw"
                    if options.steps_only and not traced:
                        continue
                    stem = f"{name}.{variant}.{precision}.{optimizer}"
                    compile(variant, precision, optimizer, "-o", options.out / f"{stem}.plan")
                    if traced:
                        with open(ir / f"{stem}.mlir", "w") as file:
                            compile(variant, precision, optimizer, "--compile-to", "memory", stdout=file)
        if not options.steps_only and name in ("mlp", "cnn", "resnet", "bert", "gpt2"):
            compile("raw20", "fp16", "sgd", *OVERFLOW, "-o", options.out / f"overflow.{name}.plan")
        print(name, flush=True)


if __name__ == "__main__":
    main()
