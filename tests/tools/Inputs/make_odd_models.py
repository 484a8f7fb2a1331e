# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models, each odd in one way, into a folder: odd-models.test says what becomes of them."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

folder = pathlib.Path(sys.argv[1])
x = h.make_tensor_value_info("x", T.FLOAT, (4, 8))
w = numpy_helper.from_array(np.arange(64, dtype=np.float32).reshape(8, 8), "w")


def tensor(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


def value(name, shape, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def product(result, left="x", right="w", **attributes):
    return h.make_node("MatMul", [left, right], [result], name=f"product_{result}", **attributes)


def save(name, nodes, inputs=(x,), outputs=(value("y", (4, 8)),), initializers=(w,)):
    graph = h.make_graph(nodes, "g", inputs, outputs, initializer=initializers)
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")


empty = [tensor("from", [2]), tensor("to", [2]), tensor("axis", [0])]
slice_of_m = h.make_node("Slice", ["m", "from", "to", "axis"], ["nothing"], name="slice")

save("no_nodes", [], outputs=[x])
save("output_is_input", [product("y")], outputs=[value("y", (4, 8)), x])
save("output_is_parameter", [product("y")], outputs=[value("y", (4, 8)), value("w", (8, 8))])
save("same_output_twice", [product("y")], outputs=[value("y", (4, 8)), value("y", (4, 8))])
save("no_input", [h.make_node("Relu", ["w"], ["y"])], inputs=[])
save("no_output", [product("y")], outputs=[])
save("empty_joins", [product("m"), slice_of_m, h.make_node("Concat", ["m", "nothing"], ["y"], axis=0)],
     initializers=[w, *empty])
save("empty_output", [product("m"), slice_of_m], outputs=[value("nothing", (0, 8))], initializers=[w, *empty])
save("empty_mean", [product("m"), slice_of_m,
                    h.make_node("ReduceMean", ["nothing"], ["mean"], axes=[0], name="mean"),
                    h.make_node("Add", ["m", "mean"], ["y"])], initializers=[w, *empty])
save("empty_product", [product("m", "x", "left"), product("y", "m", "right")],
     initializers=[tensor("left", np.zeros((8, 0)), np.float32), tensor("right", np.zeros((0, 8)), np.float32)])
save("input_called_target", [product("y", "target")], inputs=[value("target", (4, 8))])
save("input_called_row_weight", [product("y", "row_weight")], inputs=[value("row_weight", (4, 8))])
save("rows_are_no_samples", [product("m"), h.make_node("Transpose", ["m"], ["y"])], outputs=[value("y", (8, 4))])
save("index_outside", [h.make_node("Gather", ["w", "i"], ["g"], name="rows"), product("y", "x", "g")],
     initializers=[w, tensor("i", [0, 1, 2, 3, 4, 5, 6, 99])])
save("first_column_is_read", [h.make_node("Slice", ["ids", "from", "to", "axis"], ["first"]),
                              h.make_node("Gather", ["w", "first"], ["rows"]), h.make_node("Flatten", ["rows"], ["y"])],
     inputs=[value("ids", (4, 3), T.INT64)], initializers=[w, tensor("from", [0]), tensor("to", [1]), tensor("axis", [1])])
for name, last in [("inside", 7), ("outside", 8)]:
    ids = np.array([[0, 99, 99], [-8, 99, 99], [1, 99, 99], [last, 99, 99]])
    np.savez(folder / name, ids=ids, target=np.zeros((4, 8), np.float32))
save("lowest_by_minus_one", [product("m"), h.make_node("Div", ["a", "b"], ["shape"]),
                             h.make_node("Reshape", ["m", "shape"], ["y"], name="view")], outputs=[value("y", (32,))],
     initializers=[w, tensor("a", [-2**63]), tensor("b", [-1])])
save("bytes_joined", [h.make_node("Concat", ["ids", "ids"], ["both"], axis=1),
                      h.make_node("Cast", ["both"], ["wide"], to=T.INT64), h.make_node("Gather", ["w", "wide"], ["y"])],
     inputs=[value("ids", (4, 2), T.UINT8)], outputs=[value("y", (4, 4, 8))])
save("shorts", [h.make_node("Gather", ["w", "ids"], ["y"])], inputs=[value("ids", (4,), T.INT16)])
save("name_in_lines", [h.make_node("MatMul", ["x", "w"], ["y"], name="a\nerror: b\x1b[31m")],
     inputs=[value("x", (4, 7))])
save("rank_five", [product("y")], inputs=[value("x", (4, 2, 3, 2, 8))], outputs=[value("y", (4, 2, 3, 2, 8))])
save("too_many_elements", [product("y")], inputs=[value("x", (2**62, 8))], outputs=[value("y", (2**62, 8))])
save("dilated_beyond", [h.make_node("Conv", ["x", "k"], ["y"], name="conv", dilations=[2**63 - 1])],
     inputs=[value("x", (1, 8, 8))], outputs=[value("y", (1, 8, "n"))],
     initializers=[tensor("k", np.ones((8, 8, 3)), np.float32)])
save("not_finite", [product("m", right="nan"), product("y", "m", "inf")],
     initializers=[tensor("nan", np.full((8, 8), np.nan), np.float32),
                   tensor("inf", np.where(np.eye(8), np.inf, np.arange(8)), np.float32)])
save("names_that_command", [h.make_node("MatMul", ["x", "w"], ["y"], name="conv\n\x1b[31m\x07")])

twice = h.make_function("local", "Twice", ["a"], ["b"], [h.make_node("Add", ["a", "a"], ["b"])],
                        [h.make_opsetid("", 17)])
graph = h.make_graph([h.make_node("Twice", ["x", "w", "w"], ["y"], domain="local", name="call")], "g", [x],
                     [value("y", (4, 8))], initializer=[w])
opsets = [h.make_opsetid("", 17), h.make_opsetid("local", 1)]
onnx.save(h.make_model(graph, opset_imports=opsets, ir_version=8, functions=[twice]), folder / "call_with_three.onnx")
