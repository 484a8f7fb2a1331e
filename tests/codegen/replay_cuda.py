#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs recorded kernels on a GPU and compares with what the CPU form gave.

  HALFTONE_RECORD_KERNELS=DIR build/dev/tests/codegen_test      records (on any machine)
  tests/codegen/replay_cuda.py DIR                              replays; needs only a driver
"""

import array
import ctypes
import math
import pathlib
import struct
import sys

FORMATS = {"f32": ("f", 4, 2 ** -24), "bf16": ("bf16", 2, 2 ** -8), "f16": ("e", 2, 2 ** -11),
           "i64": ("q", 8, 0), "i32": ("i", 4, 0), "i1": ("B", 1, 0), "ui8": ("B", 1, 0), "i8": ("b", 1, 0)}


def check(cuda, status, what):
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else status}")


def numbers(data, kind):
    form, size, _ = FORMATS[kind]
    if form == "bf16":
        halves = array.array("H", data)
        return struct.unpack(f"{len(halves)}f", array.array("I", (h << 16 for h in halves)).tobytes())
    return struct.unpack(f"{len(data) // size}{form}", data)


def worst(actual, expected, kind):
    """Largest difference in roundings of the type, relative to max(|x|, 0.1)."""
    if actual == expected:
        return 0.0
    epsilon, largest = FORMATS[kind][2] or 1, 0.0
    for a, b in zip(numbers(actual, kind), numbers(expected, kind)):
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        error = abs(a - b) / (epsilon * max(abs(b), 0.1))
        largest = max(largest, math.inf if math.isnan(error) else error)
    return largest


def replay(cuda, stem):
    lines = stem.with_suffix(".launch").read_text().split("\n")
    name, grid, block, inputs = lines[0].split()
    entries = [line.split() for line in lines[1:] if line]
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    ptx = stem.with_suffix(".ptx").read_bytes() + b"\0"
    check(cuda, cuda.cuModuleLoadData(ctypes.byref(module), ptx), "load")
    check(cuda, cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), "function")
    data, at, buffers, before = stem.with_suffix(".data").read_bytes(), 0, [], []
    for i, (_, size) in enumerate(entries):
        size = int(size)
        pointer = ctypes.c_uint64()
        check(cuda, cuda.cuMemAlloc_v2(ctypes.byref(pointer), max(size, 16)), "allocate")
        content = data[at:at + size]
        at += size
        start = content if i < int(inputs) else b"\xab" * size
        check(cuda, cuda.cuMemcpyHtoD_v2(pointer, start, ctypes.c_size_t(size)), "upload")
        buffers.append(pointer)
        before.append(content)
    arguments = (ctypes.c_void_p * len(buffers))(*(ctypes.cast(ctypes.pointer(b), ctypes.c_void_p) for b in buffers))
    check(cuda, cuda.cuLaunchKernel(function, int(grid), 1, 1, int(block), 1, 1, 0, None, arguments, None), "launch")
    check(cuda, cuda.cuCtxSynchronize(), "run")
    largest = 0.0
    for (kind, size), pointer, expected in list(zip(entries, buffers, before))[int(inputs):]:
        result = ctypes.create_string_buffer(int(size))
        check(cuda, cuda.cuMemcpyDtoH_v2(result, pointer, ctypes.c_size_t(int(size))), "download")
        largest = max(largest, worst(result.raw, expected, kind))
    for pointer in buffers:
        cuda.cuMemFree_v2(pointer)
    cuda.cuModuleUnload(module)
    return name, largest


def main():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, device = ctypes.c_void_p(), ctypes.c_int()
    check(cuda, cuda.cuInit(0), "init")
    check(cuda, cuda.cuDeviceGet(ctypes.byref(device), 0), "device")
    check(cuda, cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(cuda, cuda.cuCtxSetCurrent(context), "context")
    count = bad = 0
    for launch in sorted(pathlib.Path(sys.argv[1]).glob("*.launch"), key=lambda p: int(p.stem[3:])):
        name, error = replay(cuda, launch.with_suffix(""))
        count += 1
        if error > 8:
            bad += 1
            print(f"{launch.stem} {name}: {error:.3g} roundings from the CPU")
    print(f"{count} kernels replayed, {bad} differ")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
