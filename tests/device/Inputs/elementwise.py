# SPDX-License-Identifier: Apache-2.0
"""elementwise.py MODEL DATA: y = tanh(x * w) + b without a product, so that a plan of it needs no library."""

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
np.savez(sys.argv[2], x=np.ones((rows, 3), np.float32), target=np.zeros((rows, 3), np.float32))
