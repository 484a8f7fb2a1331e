#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far low precision takes five SGD losses of the sample resnet from float32, over starts that differ by half a BF16 ulp.

  tools/dev/loss_noise.py halftone [--layout nhwc] [-o OUT.json]               Halftone's plans on the CPU
  tools/dev/loss_noise.py torch-cpu|torch-cuda [-o OUT.json]                   PyTorch's autocast (and GradScaler for FP16)

Each start is compared with the same system's own float32 run from it: a single start's error is luck, their spread is what a
precision does.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "testdata" / "models"
SGD = dict(lr=0.05, momentum=0.9, weight_decay=1e-4)
STEPS = 5


def moved(weights, seed):
    """The weights, each moved by up to 2^-9 of itself; seed None moves nothing."""
    if seed is None:
        return weights
    random = np.random.default_rng(seed)
    return {name: (value * (1 + random.uniform(-1, 1, value.shape) * 2.0**-9)).astype(np.float32)
            if value.dtype == np.float32 and "running" not in name else value
            for name, value in sorted(weights.items())}


class Halftone:
    precisions = ("bf16", "fp16")
    types = {"F32": "<f4", "I64": "<i8"}

    def __init__(self, binaries, layout):
        self.binaries, self.folder = binaries, pathlib.Path(tempfile.mkdtemp())
        reference = np.load(MODELS / "resnet.npz")
        np.savez(self.folder / "data.npz", x0=reference["in.0"], target=reference["target"])
        for precision in ("fp32", *self.precisions):
            subprocess.run([binaries / "halftone", "compile", MODELS / "resnet.raw20.onnx", "--target", "cpu", "--precision",
                            precision, "--optimizer", "sgd", "--lr", str(SGD["lr"]), "--momentum", str(SGD["momentum"]),
                            "--weight-decay", str(SGD["weight_decay"]), "--layout", layout, "-o", self.folder / f"{precision}.plan"],
                           check=True, capture_output=True)
        content = (self.folder / "fp32.weights.safetensors").read_bytes()
        self.base = 8 + struct.unpack("<Q", content[:8])[0]
        self.header = json.loads(content[8:self.base])
        self.content = content
        self.weights = {}
        for name, entry in self.header.items():
            if name != "__metadata__":
                begin, end = entry["data_offsets"]
                data = content[self.base + begin:self.base + end]
                self.weights[name] = np.frombuffer(data, self.types[entry["dtype"]]).reshape(entry["shape"])

    def losses(self, weights, precision):
        content = bytearray(self.content)
        for name, value in weights.items():
            begin, end = self.header[name]["data_offsets"]
            content[self.base + begin:self.base + end] = np.ascontiguousarray(value).tobytes()
        (self.folder / "moved.safetensors").write_bytes(content)
        result = subprocess.run([self.binaries / "halftone-run", "train", self.folder / f"{precision}.plan", "--data",
                                 self.folder / "data.npz", "--weights", self.folder / "moved.safetensors", "--steps",
                                 str(STEPS), "--no-shuffle", "--out", self.folder / "run", "--overwrite", "--device",
                                 "cpu"], check=True, capture_output=True, text=True)
        return np.array(json.loads(result.stdout.splitlines()[-1])["loss"])


class Torch:
    def __init__(self, device):
        import onnx
        import torch
        from onnx import numpy_helper
        sys.path.insert(0, str(pathlib.Path(__file__).parent))
        import sample_models
        self.torch, self.device = torch, device
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.deterministic = True
        self.precisions = ("bf16", "fp16") if device == "cuda" else ("bf16",)
        reference = np.load(MODELS / "resnet.npz")
        self.input, self.target = (torch.tensor(reference[name]).to(device) for name in ("in.0", "target"))
        self.module = sample_models.resnet().module
        exported = {value.name: numpy_helper.to_array(value)
                    for value in onnx.load(MODELS / "resnet.raw20.onnx").graph.initializer}
        self.weights = {name: exported.get(name, value.numpy()) for name, value in self.module.state_dict().items()}

    def losses(self, weights, precision):
        torch = self.torch
        self.module.load_state_dict({name: torch.tensor(np.array(value)) for name, value in weights.items()})
        module = self.module.to(self.device).train()
        optimizer = torch.optim.SGD(module.parameters(), **SGD)
        scaler = torch.amp.GradScaler(self.device, enabled=precision == "fp16")
        low = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
        losses = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            with torch.autocast(self.device, dtype=low, enabled=low is not None):
                output = module(self.input)
            loss = torch.nn.functional.cross_entropy(output.float(), self.target)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        return np.array(losses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("system", choices=("halftone", "torch-cpu", "torch-cuda"))
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--layout", default="nchw", help="of Halftone's plans; those for GPUs have nhwc")
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    options = parser.parse_args()
    system = Halftone(options.bin, options.layout) if options.system == "halftone" else Torch(options.system.removeprefix("torch-"))
    rows = []
    for precision in system.precisions:
        errors = []
        for seed in (None, *range(options.starts)):
            start = moved(system.weights, seed)
            expected = system.losses(start, "fp32")
            errors.append(np.max(np.abs(system.losses(start, precision) - expected)))
        spread = np.sort(errors[1:])
        rows.append({"system": options.system, "precision": precision, "as_exported": errors[0], "min": spread[0],
                     "median": float(np.median(spread)), "max": spread[-1],
                     "within_8e-2": float(np.mean(spread <= 8e-2)), "within_4e-2": float(np.mean(spread <= 4e-2))})
        print(json.dumps(rows[-1]), flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
