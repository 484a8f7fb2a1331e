// What surrounds the operators: the program, its inputs, outputs and persistent values.
#ifndef HALFTONE_GRAPH_PROGRAM_TD
#define HALFTONE_GRAPH_PROGRAM_TD
include "compiler/graph/GraphBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Graph_ProgramOp : Op<Graph_Dialect, "program", [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol]> {
  let summary = "One program: a block of ops in execution order.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
}

class Graph_SourceOp<string mnemonic, dag attributes> : Op<Graph_Dialect, mnemonic, [Pure]> {
  let arguments = attributes;
  let results = (outs Tensor:$value);
  let assemblyFormat = "$name attr-dict `:` type($value)";
}

def Graph_InputOp : Graph_SourceOp<"input", (ins StrAttr:$name, DefaultValuedAttr<StrAttr, "\"data\"">:$kind)> {
  let summary = "Data of the current batch.";
  let description = "`kind` is data, target or row_weight (1 for rows that count, eval only).";
}
def Graph_ParameterOp : Graph_SourceOp<"parameter", (ins StrAttr:$name, DefaultValuedAttr<StrAttr, "\"trainable\"">:$role)> {
  let summary = "A weight by the name of its ONNX initializer; always f32.";
  let description = "`role` is trainable, frozen, statistic (BatchNorm running values) or constant (too large to print).";
}
def Graph_StateOp : Graph_SourceOp<"state", (ins StrAttr:$name, ElementsAttr:$init)> {
  let summary = "A persistent value: moments, loss scale, counters. `init` has one element or all.";
}
def Graph_ConstantOp : Op<Graph_Dialect, "constant", [Pure, ConstantLike, AllTypesMatch<["value", "output"]>,
                                                     DeclareOpInterfaceMethods<ReferenceOpInterface>]> {
  let summary = "A constant tensor.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}
def Graph_AssignOp : Op<Graph_Dialect, "assign", []> {
  let summary = "Stores a value into a parameter, a state, or a pack of parameters when the step ends.";
  let description = "All reads of the target in the program see the old value.";
  let arguments = (ins Tensor:$target, Tensor:$value);
  let assemblyFormat = "$target `,` $value attr-dict `:` type($target) `,` type($value)";
}
def Graph_OutputOp : Op<Graph_Dialect, "output", []> {
  let summary = "Names a result of the program.";
  let arguments = (ins StrAttr:$name, Tensor:$value);
  let assemblyFormat = "$name `,` $value attr-dict `:` type($value)";
}
def Graph_PackOp : Op<Graph_Dialect, "pack", [Pure, DeclareOpInterfaceMethods<ReferenceOpInterface>]> {
  let summary = "Lays tensors out in one flat tensor at fixed element offsets; gaps are zero.";
  let description = "Placement, not a copy: the memory phase lets the operands live there.";
  let arguments = (ins Variadic<Tensor>:$parts, DenseI64ArrayAttr:$offsets);
  let results = (outs Tensor:$flat);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def Graph_FusedOp : Op<Graph_Dialect, "fused", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that become one generated kernel.";
  let description = [{
    The block's arguments are the operands; `graph.yield` returns what is stored. `schedule` is pointwise, row, column or scatter.
  }];
  let arguments = (ins Variadic<Tensor>:$inputs, StrAttr:$schedule);
  let results = (outs Variadic<Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$schedule $inputs attr-dict-with-keyword $body `:` functional-type($inputs, $outputs)";
}
def Graph_YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator, HasParent<"FusedOp">]> {
  let arguments = (ins Variadic<Tensor>:$values);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}
#endif
