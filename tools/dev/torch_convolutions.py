#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The strided convolutions of the sample resnet with their gradients, channels last, in PyTorch: what cuDNN's kernels do to
another caller (docs/benchmarks/h200-sanitizer.json).

  compute-sanitizer --tool racecheck python3 tools/dev/torch_convolutions.py
"""

import torch


def main():
    torch.manual_seed(0)
    for dtype in (torch.bfloat16, torch.float16):
        for channels, size, filters in ((8, 16, 16), (16, 8, 32), (32, 4, 64)):
            for window in (3, 1):
                x, w = (torch.randn(shape, device="cuda", dtype=dtype).to(memory_format=torch.channels_last).requires_grad_()
                        for shape in ((4, channels, size, size), (filters, channels, window, window)))
                y = torch.nn.functional.conv2d(x, w, stride=2, padding=window // 2)
                y.backward(torch.randn_like(y))
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
