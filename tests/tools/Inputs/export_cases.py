# SPDX-License-Identifier: Apache-2.0
"""Functions that give the exporter something else than a module and its batch."""

import torch


class Net(torch.nn.Module):
    def forward(self, x):
        if x.shape[-1] != 3:
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x5 and 3x2)\nmore of it")
        return "no tensor"


def nothing():
    pass


def one():
    return Net()


def four():
    return Net(), torch.Tensor(4, 3), None, None


def raises():
    raise ValueError("the data are not here\nsecond line")


def no_module():
    return "Net", torch.Tensor(4, 3)


def no_tensors():
    return Net(), {"x": [1, 2, 3]}


def no_batch():
    return Net(), ()


def no_target():
    return Net(), torch.Tensor(4, 3), [1, 2]


def unknown_argument():
    return Net(), {"y": torch.Tensor(4, 3)}


def does_not_fit():
    return Net(), torch.Tensor(4, 5)


def no_result():
    return Net(), torch.Tensor(4, 3)


number = 3
