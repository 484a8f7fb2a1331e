# SPDX-License-Identifier: Apache-2.0
"""Cleans a model that tells where it was made, and prints what is left of its metadata."""

import pathlib
import sys

import onnx
import onnx.helper as oh

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tools"))
import export_torch


def with_metadata(message, **values):
    message.doc_string = "made at /home/somebody/train.py"
    for key, value in values.items():
        message.metadata_props.add(key=key, value=value)
    return message


info = oh.make_tensor_value_info
inner = with_metadata(oh.make_node("Relu", ["x"], ["y"]), namespace="Net/relu: torch.nn.ReLU", trace='File "a.py", line 3')
branch = oh.make_graph([inner], "branch", [], [info("y", 1, [2])])
outer = with_metadata(oh.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch), where="(/opt/env/lib)")
graph = oh.make_graph([outer], "graph", [info("c", 9, []), info("x", 1, [2])], [info("z", 1, [2])])
model = with_metadata(oh.make_model(graph), **{"pkg.torch.onnx.stack_trace": "anything", "ratio": "a/b of 3/4"})
print(export_torch.clean(model))
