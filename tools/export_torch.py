#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a PyTorch module so that Halftone can train it: every parameter kept under its own name, nothing folded away.

  tools/export_torch.py FILE.py:FUNCTION OUT [--target-loss NAME] [--opset N] [--exporter auto|dynamo|script] [--static]
                          [--traceback]

FUNCTION takes nothing and returns (module, batch) or (module, batch, target). `batch` is a tensor, a tuple of tensors or a
dict of them by the names of forward's arguments; its first dimension is the batch. A module that returns its own loss as
a scalar needs no target. Writes OUT.onnx and OUT.npz (this batch as a data file) and prints the compile line. As a library:

  from export_torch import export
  export(module, batch, "out/model", target=labels)

Needs torch (2.6 or newer), onnx, onnxscript and numpy. docs/export.md says what the flags are for.
"""

import argparse
import contextlib
import copy
import dataclasses
import importlib.util
import inspect
import io
import logging
import pathlib
import re
import sys
import traceback
import warnings

# Where a tool wrote down the machine it ran on, or repeats what the graph says anyway.
DROPPED_METADATA = ("pkg.torch.onnx.stack_trace", "pkg.torch.onnx.fx_node", "pkg.torch.onnx.class_hierarchy")
HOST_PATH = re.compile(r"(^|[\s'\"(=:,])(/[\w.+-]+){2,}|[A-Za-z]:\\\\|\.py\b[\"']?,? line")
EXTERNAL_BYTES = 1_500_000_000  # Protobuf cannot hold more than 2 GiB.


class ExportError(Exception):
    """The module cannot be exported; the text says why and what to try. `__cause__` is what the user's own code raised."""


@dataclasses.dataclass
class Exported:
    """What `export` made: both files, the exporter used, whether the batch stayed symbolic, and the compile line."""

    model: pathlib.Path
    data: pathlib.Path
    exporter: str
    dynamic: bool
    command: str


def export(module, batch, out, target=None, *, loss=None, opset=20, exporter="auto", dynamic=True, outputs=None):
    """Exports `module`, called on `batch`, to OUT.onnx and writes OUT.npz with the batch and `target`.

    loss      what the compile line names (default: cross_entropy for a target, output:NAME for a scalar output)
    exporter  "dynamo", "script" (the TorchScript exporter), or "auto": the first that works
    dynamic   keep the first dimension symbolic, named `batch`
    outputs   names of the outputs (default: `loss` for a scalar, `logits`, then output_1 and so on)
    The module is left as it was. Raises ExportError.
    """
    import numpy

    check_example(module, batch, target)
    out = pathlib.Path(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f"cannot make the folder {out.parent}: {error.strerror}") from error
    inputs = named_inputs(module, batch)
    module = copy.deepcopy(module).train()
    scalar, count = probe(module, inputs)
    names = list(outputs or ["loss" if scalar else "logits", *(f"output_{i}" for i in range(1, count))])
    path = out.with_name(out.name + ".onnx")
    used, symbolic = write_model(module, inputs, names, path, opset, exporter, dynamic)
    clean_file(path)
    check_parameters(module, path)

    data = {name: value.detach().cpu().numpy() for name, value in inputs.items()}
    if target is not None:
        data["target"] = target.detach().cpu().numpy()
    data_path = out.with_name(out.name + ".npz")
    numpy.savez_compressed(data_path, **data)
    command = compile_line(path, data, names, scalar, loss, symbolic, count)
    return Exported(path, data_path, used, symbolic, command)


def check_example(module, batch, target):
    """What the user's function returned must be a module, tensors, and a tensor or nothing."""
    import torch

    def named(value):
        return f"{type(value).__name__}"

    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"the module is a {named(module)}, not a torch.nn.Module")
    if isinstance(batch, (tuple, list, dict)):
        leaves = batch.items() if isinstance(batch, dict) else enumerate(batch)
        wrong = [f"{name} is a {named(value)}" for name, value in leaves if not isinstance(value, torch.Tensor)]
    else:
        wrong = [] if isinstance(batch, torch.Tensor) else [f"it is a {named(batch)}"]
    if wrong:
        raise ExportError(f"the batch must be a tensor, or a tuple or dict of tensors: {'; '.join(wrong)}")
    if not isinstance(batch, torch.Tensor) and not batch:
        raise ExportError("the batch is empty: give one tensor for each argument of forward")
    if target is not None and not isinstance(target, torch.Tensor):
        raise ExportError(f"the target is a {named(target)}, not a tensor")


def describe(error):
    """The user's exception in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def named_inputs(module, batch):
    """The batch as a dict in the order of forward's arguments."""
    import torch

    arguments = [p.name for p in inspect.signature(module.forward).parameters.values()
                 if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if isinstance(batch, dict):
        unknown = [name for name in batch if name not in arguments]
        if unknown:
            raise ExportError(f"forward has no argument {', '.join(unknown)}; it takes {', '.join(arguments)}")
        return {name: batch[name] for name in arguments if name in batch}
    tensors = (batch,) if isinstance(batch, torch.Tensor) else tuple(batch)
    if len(arguments) < len(tensors):  # forward(*args): names of our own
        arguments = [f"x{i}" for i in range(len(tensors))] if len(tensors) > 1 else ["x"]
    return dict(zip(arguments, tensors))


def flatten(result):
    import torch

    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result if isinstance(result, (tuple, list)) else []
    return [leaf for value in values if value is not None for leaf in flatten(value)]


def probe(module, inputs):
    """Runs the module once: is its first output a scalar, and how many outputs are there?"""
    import torch

    try:
        with torch.no_grad():
            result = call(copy.deepcopy(module), inputs)
    except Exception as error:  # forward is the user's
        shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in inputs.items())
        raise ExportError(f"forward does not take the batch ({shapes}): {describe(error)}") from error
    leaves = flatten(result)
    if not leaves:
        raise ExportError("the module returns no tensor")
    return leaves[0].dim() == 0, len(leaves)


def by_keyword(module):
    return all(p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)
               for p in inspect.signature(module.forward).parameters.values())


def call(module, inputs):
    return module(**inputs) if by_keyword(module) else module(*inputs.values())


def batched(inputs):
    """Names of the inputs whose first dimension is the batch: as long as that of the first input that has one."""
    sizes = {name: value.shape[0] for name, value in inputs.items() if value.dim() > 0}
    size = next(iter(sizes.values()), None)
    return [name for name, n in sizes.items() if n == size]


def write_model(module, inputs, names, path, opset, exporter, dynamic):
    """Tries the exporters in order, each with a symbolic batch first; returns the exporter's name and if it is symbolic."""
    attempts = [(e, d) for e in (["dynamo", "script"] if exporter == "auto" else [exporter])
                for d in ([True, False] if dynamic else [False])]
    failures = []
    for name, symbolic in attempts:
        try:
            run = run_dynamo if name == "dynamo" else run_script
            with quiet():
                run(copy.deepcopy(module), inputs, names, path, opset, symbolic)
            return name, has_symbol(path)
        except Exception as error:  # an exporter may raise anything at all
            while error.__cause__ is not None:
                error = error.__cause__
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            failures.append(f"  {name}{' with a symbolic batch' if symbolic else ''}: {first[:200]}")
    raise ExportError("no exporter took this module:\n" + "\n".join(failures))


def has_symbol(path):
    import onnx

    inputs = onnx.load(path, load_external_data=False).graph.input
    return any(dim.dim_param for value in inputs for dim in value.type.tensor_type.shape.dim)


@contextlib.contextmanager
def quiet():
    """Holds back what the exporters print and warn of; what matters is in the error that they raise."""
    previous = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(previous)


def run_dynamo(module, inputs, names, path, opset, symbolic):
    import torch

    # An example with one row would be taken for a batch that is always one.
    if symbolic and any(inputs[n].shape[0] == 1 for n in batched(inputs)):
        inputs = {n: torch.cat([v, v]) if n in batched(inputs) else v for n, v in inputs.items()}
    options = {}
    if symbolic:
        dim = torch.export.Dim("batch", min=2)
        shapes = {n: {0: dim} if n in batched(inputs) else {} for n in inputs}
        kinds = [p.kind for p in inspect.signature(module.forward).parameters.values()]
        listed = tuple(shapes.values())
        options["dynamic_shapes"] = (shapes if by_keyword(module) else
                                     (listed,) if inspect.Parameter.VAR_POSITIONAL in kinds else listed)
    size = sum(p.numel() * p.element_size() for p in module.parameters())
    arguments = {"kwargs": dict(inputs)} if by_keyword(module) else {"args": tuple(inputs.values())}
    # optimize=True, the default, folds BatchNorm and constants into weights and renames what it touched.
    torch.onnx.export(module, **{"args": (), **arguments}, f=str(path), dynamo=True, optimize=False, verbose=False,
                      opset_version=opset, input_names=list(inputs), output_names=names,
                      external_data=size > EXTERNAL_BYTES, **options)


def run_script(module, inputs, names, path, opset, symbolic):
    import torch

    axes = {n: {0: "batch"} for n in batched(inputs)} if symbolic else {}
    if symbolic and names[0] != "loss":
        axes |= {names[0]: {0: "batch"}}
    arguments = (*inputs.values(),) if not by_keyword(module) else (dict(inputs),)
    torch.onnx.export(module, arguments, str(path), dynamo=False, opset_version=min(opset, 17), verbose=False,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      input_names=list(inputs), output_names=names, dynamic_axes=axes)


def clean(model):
    """Drops doc strings, and metadata that names files of the exporting machine, from an onnx.ModelProto in place."""
    def scrub(message):
        if hasattr(message, "doc_string"):
            message.ClearField("doc_string")
        if hasattr(message, "metadata_props"):
            kept = [p for p in message.metadata_props
                    if p.key not in DROPPED_METADATA and not HOST_PATH.search(p.value)]
            if len(kept) != len(message.metadata_props):
                kept = [type(p).FromString(p.SerializeToString()) for p in kept]
                del message.metadata_props[:]
                message.metadata_props.extend(kept)

    def scrub_graph(graph):
        scrub(graph)
        for group in (graph.initializer, graph.value_info, graph.input, graph.output):
            for message in group:
                scrub(message)
        scrub_nodes(graph.node)

    def scrub_nodes(nodes):
        for node in nodes:
            scrub(node)
            for attribute in node.attribute:
                attribute.ClearField("doc_string")
                for graph in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                    scrub_graph(graph)

    scrub(model)
    scrub_graph(model.graph)
    for function in model.functions:
        scrub(function)
        scrub_nodes(function.node)
    return model


def clean_file(path):
    import onnx

    onnx.save_model(clean(onnx.load(path, load_external_data=False)), path)


def check_parameters(module, path):
    """Every trainable parameter must be an initializer under its own name; tied ones under one of their names."""
    import onnx

    kept = {i.name for i in onnx.load(path, load_external_data=False).graph.initializer}
    names = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        if parameter.requires_grad:
            names.setdefault(id(parameter), []).append(name)
    lost = [group[0] for group in names.values() if not kept.intersection(group)]
    if lost:
        shown = ", ".join(lost[:8]) + (", …" if len(lost) > 8 else "")
        warnings.warn(f"{len(lost)} of {len(names)} parameters are not in the graph: {shown}. They do not reach an "
                      "output, or the exporter replaced them; they will not be trained.", stacklevel=3)


def compile_line(path, data, names, scalar, loss, symbolic, count):
    words = ["halftone", "compile", str(path), "-o", str(path.with_suffix(".plan"))]
    if symbolic:
        words += ["--dim", f"batch={len(next(iter(data.values())))}"]
    if loss is None:
        loss = f"output:{names[0]}" if scalar else guess_loss(data.get("target"))
    words += ["--loss", loss]
    if count > 1 and not scalar:
        words += ["--logits", names[0]]
    return " ".join(words)


def guess_loss(target):
    return "mse" if target is not None and target.dtype.kind == "f" else "cross_entropy"


def load_function(spec):
    """FILE.py:FUNCTION as a Python function."""
    file, _, name = spec.rpartition(":")
    if not file or not name:
        raise ExportError(f"'{spec}' is not FILE.py:FUNCTION")
    location = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    if location is None or not pathlib.Path(file).is_file():
        raise ExportError(f"there is no Python file {file}")
    loaded = importlib.util.module_from_spec(location)
    sys.path.insert(0, str(pathlib.Path(file).resolve().parent))
    try:
        location.loader.exec_module(loaded)
    except Exception as error:  # the file is the user's
        raise ExportError(f"{file} cannot be loaded: {describe(error)}") from error
    if not callable(getattr(loaded, name, None)):
        raise ExportError(f"{file} has no function {name}")
    return getattr(loaded, name)


def call_function(spec):
    """What FILE.py:FUNCTION returns: module, batch, and target or None."""
    function = load_function(spec)
    try:
        made = function()
    except Exception as error:  # the function is the user's
        raise ExportError(f"{spec} raised {describe(error)}") from error
    if not isinstance(made, (tuple, list)) or len(made) not in (2, 3):
        what = f"{len(made)} values" if isinstance(made, (tuple, list)) else f"a {type(made).__name__}"
        raise ExportError(f"{spec} returned {what}, not (module, batch) or (module, batch, target)")
    return (*made, None)[:3]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("function", metavar="FILE.py:FUNCTION", help="returns (module, batch[, target])")
    parser.add_argument("out", metavar="OUT", help="writes OUT.onnx and OUT.npz")
    parser.add_argument("--target-loss", metavar="NAME", help="cross_entropy, mse, l1 or bce_with_logits")
    parser.add_argument("--opset", type=int, default=20)
    parser.add_argument("--exporter", choices=["auto", "dynamo", "script"], default="auto")
    parser.add_argument("--traceback", action="store_true", help="show all of an error in the module's own code")
    parser.add_argument("--static", action="store_true", help="keep the example's batch size")
    options = parser.parse_args(arguments)
    warnings.showwarning = lambda message, *_: print(f"export_torch: warning: {message}", file=sys.stderr)
    try:
        module, batch, target = call_function(options.function)
        made = export(module, batch, options.out, target, loss=options.target_loss, opset=options.opset,
                      exporter=options.exporter, dynamic=not options.static)
    except ExportError as error:
        cause, hint = error.__cause__, ""
        if isinstance(cause, ModuleNotFoundError):
            hint = "; it needs torch, onnx, onnxscript and numpy"
        if cause is not None and not options.traceback:
            hint += " (--traceback shows where)"
        print(f"export_torch: {error}{hint}", file=sys.stderr)
        if cause is not None and options.traceback:
            traceback.print_exception(cause)
        return 2
    except ModuleNotFoundError as error:
        print(f"export_torch: {error}; it needs torch, onnx, onnxscript and numpy", file=sys.stderr)
        return 2
    kind = "symbolic batch" if made.dynamic else "fixed batch"
    print(f"wrote {made.model} ({made.exporter} exporter, {kind}) and {made.data}\n\n{made.command}")
    print(f"halftone-run train {made.model.with_suffix('.plan')} --data {made.data}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
