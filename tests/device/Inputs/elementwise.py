# SPDX-License-Identifier: Apache-2.0
"""elementwise.py MODEL DATA [BATCHES]: y = tanh(x * w) + b without a product, so that a plan of it needs no library; data of
one batch, or of so many."""

import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper, TensorProto

rows = 4
graph = helper.make_graph(
    [helper.make_node("Mul", ["x", "w"], ["scaled"], name="scale"),
     helper.make_node("Tanh", ["scaled"], ["bent"], name="bend"),
     helper.make_node("Add", ["bent", "b"], ["y"], name="shift")],
    "elementwise", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 3])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 3])],
    [numpy_helper.from_array(np.ones(3, np.float32), "w"), numpy_helper.from_array(np.zeros(3, np.float32), "b")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), sys.argv[1])
given = rows * int(sys.argv[3]) if len(sys.argv) > 3 else rows
np.savez(sys.argv[2], x=np.ones((given, 3), np.float32), target=np.zeros((given, 3), np.float32))
