#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what lies in testdata: exported models with PyTorch's results for them, and the handwritten digits.

  tools/dev/make_testdata.py OUT [NAME...]      NAME: a model of sample_models.py, `functions` or `digits`; default all

Needs torch 2.11, torchvision 0.26, transformers 5.17, onnxscript, scikit-learn, onnx and numpy. testdata/README.md says
what is in the files.
"""

import copy
import logging
import pathlib
import sys
import warnings

import numpy as np
import onnx
import onnx.helper as oh
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import export_torch
import sample_models

# variant: exporter, opset, train mode, optimize
VARIANTS = {
    "dynamo18": ("dynamo", 18, False, True),
    "dynamo23": ("dynamo", 23, False, True),
    "raw20": ("dynamo", 20, False, False),
    "raw20train": ("dynamo", 20, True, False),
    "script17train": ("script", 17, True, False),
}
FIVE = ("mlp", "cnn", "resnet", "bert", "gpt2")
OWN = ("digits_cnn", "bert_masked", "self_loss", "dropout")
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-4),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.01),
}


def export_variants(name, sample, folder):
    """The five: static shapes, inputs x0, x1, ..., one file for each way of exporting."""
    for variant, (exporter, opset, train, optimize) in VARIANTS.items():
        module = copy.deepcopy(sample.module).train(train)
        path = folder / f"{name}.{variant}.onnx"
        names = dict(input_names=[f"x{i}" for i in range(len(sample.inputs))], output_names=["logits"],
                     opset_version=opset, verbose=False)
        try:
            if exporter == "dynamo":
                torch.onnx.export(module, sample.inputs, str(path), dynamo=True, external_data=False,
                                  optimize=optimize, **names)
            else:
                torch.onnx.export(module, sample.inputs, str(path), dynamo=False, do_constant_folding=False,
                                  training=torch.onnx.TrainingMode.PRESERVE, **names)
        except Exception as error:
            print(f"{name}.{variant}: no export ({str(error).splitlines()[0][:100]})")
            continue
        export_torch.clean_file(path)


def export_own(name, sample, folder):
    """Our own: as tools/export_torch.py gives them, with a symbolic batch."""
    for variant, exporter in (("raw20", "dynamo"), ("script17train", "script")):
        out = folder / f"{name}.{variant}"
        made = export_torch.export(sample.module, sample.inputs, out, sample.target, exporter=exporter)
        made.data.unlink()  # NAME.npz holds the batch
        print(f"{out.name}: {made.command}")


def reference(sample):
    """PyTorch's results on the one batch; the keys are explained in testdata/README.md."""
    data = {f"in.{i}": x.numpy() for i, x in enumerate(sample.inputs)}
    if sample.target is not None:
        data["target"] = sample.target.numpy()
    wide = [x.double() if x.is_floating_point() else x for x in sample.inputs]
    module = copy.deepcopy(sample.module).double()
    data["eval.out"] = module.eval()(*wide).detach().float().numpy()
    if any(isinstance(m, torch.nn.Dropout) and m.p > 0 for m in module.modules()):
        return data  # what a step gives depends on the random mask
    loss = sample.loss(module.train()(*wide), sample.target)
    loss.backward()
    data["loss64"] = np.array(loss.item())
    data |= {f"grad.{n}": p.grad.float().numpy() for n, p in module.named_parameters() if p.grad is not None}
    for name, make in OPTIMIZERS.items():
        module = copy.deepcopy(sample.module).train()
        optimizer, losses = make(module.parameters()), []
        for _ in range(5):
            optimizer.zero_grad()
            loss = sample.loss(module(*sample.inputs), sample.target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        data[f"{name}.losses"] = np.array(losses)
        floats = [(n, b) for n, b in module.named_buffers() if b.is_floating_point()]
        data |= {f"{name}.{n}": p.detach().numpy() for n, p in [*module.named_parameters(), *floats]}
    return data


def make_model(name, folder):
    torch.manual_seed(1234 + len(name))
    sample = getattr(sample_models, name)()
    (export_variants if name in FIVE else export_own)(name, sample, folder)
    np.savez_compressed(folder / f"{name}.npz", **reference(sample))


def functions_model():
    """A perceptron out of local functions, one calling the other and handing an attribute on."""
    node, domain, opset = oh.make_node, "halftone.test", [oh.make_opsetid("", 20)]
    scaled = oh.make_function(
        domain, "ScaledTanh", ["x"], ["y"],
        [oh.make_node("Constant", [], ["s"]), node("Tanh", ["x"], ["t"], name="tanh"),
         node("Mul", ["t", "s"], ["y"], name="scale")], opset, ["scale"])
    reference = onnx.AttributeProto(name="value_float", ref_attr_name="scale", type=onnx.AttributeProto.FLOAT)
    scaled.node[0].attribute.append(reference)
    inner = node("ScaledTanh", ["z"], ["y"], name="activation", domain=domain)
    inner.attribute.append(onnx.AttributeProto(name="scale", ref_attr_name="scale", type=onnx.AttributeProto.FLOAT))
    dense = oh.make_function(
        domain, "Dense", ["x", "w", "b"], ["y"],
        [node("Gemm", ["x", "w", "b"], ["z"], name="product", transB=1), inner],
        [*opset, oh.make_opsetid(domain, 1)], ["scale"])
    weights = {n: torch.randn(*s) * 0.3 for n, s in
               {"first.weight": (32, 16), "first.bias": (32,), "last.weight": (5, 32), "last.bias": (5,)}.items()}
    nodes = [node("Dense", ["x", "first.weight", "first.bias"], ["h"], name="first", domain=domain, scale=1.5),
             node("Gemm", ["h", "last.weight", "last.bias"], ["logits"], name="last", transB=1)]
    info = oh.make_tensor_value_info
    graph = oh.make_graph(
        nodes, "functions", [info("x", onnx.TensorProto.FLOAT, ["batch", 16])],
        [info("logits", onnx.TensorProto.FLOAT, ["batch", 5])],
        [onnx.numpy_helper.from_array(w.numpy(), n) for n, w in weights.items()])
    model = oh.make_model(graph, opset_imports=[*opset, oh.make_opsetid(domain, 1)], functions=[scaled, dense],
                          producer_name="halftone", ir_version=10)
    onnx.checker.check_model(model)
    return model, weights


class FunctionsTwin(torch.nn.Module):
    """What `functions_model` computes."""

    def __init__(self, weights):
        super().__init__()
        self.first, self.last = torch.nn.Linear(16, 32), torch.nn.Linear(32, 5)
        self.load_state_dict(weights)

    def forward(self, x):
        return self.last(1.5 * torch.tanh(self.first(x)))


def make_functions(folder):
    torch.manual_seed(1234)
    model, weights = functions_model()
    onnx.save(model, folder / "functions.onnx")
    sample = sample_models.Sample(FunctionsTwin(weights), (torch.randn(8, 16),), torch.randint(0, 5, (8,)))
    np.savez_compressed(folder / "functions.npz", **reference(sample))


def make_digits(folder):
    """Pictures scaled to 0..1, as [N,1,8,8]; every fifth of a fixed shuffle is for testing."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    x = (digits.images[order, None] / 16).astype(np.float32)
    target = digits.target[order].astype(np.int64)
    test = np.arange(len(target)) % 5 == 0
    np.savez_compressed(folder / "train.npz", x=x[~test], target=target[~test])
    np.savez_compressed(folder / "test.npz", x=x[test], target=target[test])


def main(arguments):
    out = pathlib.Path(arguments[0])
    models, digits = out / "models", out / "digits"
    models.mkdir(parents=True, exist_ok=True)
    digits.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    for name in arguments[1:] or [*FIVE, *OWN, "functions", "digits"]:
        if name == "digits":
            make_digits(digits)
        elif name == "functions":
            make_functions(models)
        else:
            make_model(name, models)


if __name__ == "__main__":
    main(sys.argv[1:])
