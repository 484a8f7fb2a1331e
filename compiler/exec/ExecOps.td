// The level a plan is printed from: buffers with an arena and an offset, and steps in order.
#ifndef HALFTONE_EXEC_OPS_TD
#define HALFTONE_EXEC_OPS_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::halftone::exec";
  let summary = "Buffers and steps: what a plan holds.";
  let usePropertiesForAttributes = 1;
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def StepOpInterface : OpInterface<"StepOpInterface"> {
  let cppNamespace = "::halftone::exec";
  let description = "One step of a program: reads input buffers, writes output buffers.";
  let methods = [
    InterfaceMethod<"", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"", "::mlir::OperandRange", "getOutputs">];
}

def Exec_ProgramOp : Op<Exec_Dialect, "program", [NoTerminator, SingleBlock, Symbol]> {
  let summary = "One program: buffer definitions, then steps.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Exec_BufferOp : Op<Exec_Dialect, "buffer", []> {
  let summary = "A dense tensor in an arena; `offset` in bytes once the memory phase has planned it.";
  let description = [{
    `arena` is parameters, state, gradients, constants, inputs, activations or workspace. `name` is a parameter's, state's or input's name,
    else empty. `value` is a constant's or a state's initial content.
  }];
  let arguments = (ins StrAttr:$arena, StrAttr:$name, OptionalAttr<I64Attr>:$offset, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$arena $name attr-dict `:` type($buffer)";
}

def Exec_ViewOp : Op<Exec_Dialect, "view", [Pure]> {
  let summary = "The same memory in another shape, `offset` elements into the source.";
  let arguments = (ins AnyStaticShapeMemRef:$source, DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs AnyStaticShapeMemRef:$view);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($view)";
}

class Exec_StepOp<string mnemonic, dag attributes>
    : Op<Exec_Dialect, mnemonic, [AttrSizedOperandSegments, StepOpInterface]> {
  let arguments = !con((ins Variadic<AnyStaticShapeMemRef>:$inputs, Variadic<AnyStaticShapeMemRef>:$outputs), attributes);
  let assemblyFormat = "`(` $inputs `)` `->` `(` $outputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Exec_LaunchOp : Exec_StepOp<"launch", (ins FlatSymbolRefAttr:$kernel)> {
  let summary = "Runs a generated kernel.";
}
def Exec_MatMulOp : Exec_StepOp<"matmul", (ins I64Attr:$batch, I64Attr:$m, I64Attr:$n, I64Attr:$k, BoolAttr:$transpose_a,
    BoolAttr:$transpose_b, I64Attr:$stride_a, I64Attr:$stride_b, I64Attr:$stride_c, DefaultValuedAttr<BoolAttr, "false">:$tf32)> {
  let summary = "out[b] = op(A[b]) op(B[b]) (+ bias of length n, a third input), accumulated in float32; see plan.proto.";
}
def Exec_ConvolutionOp : Exec_StepOp<"convolution", (ins StrAttr:$direction, I64Attr:$group, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$channels_last,
    DefaultValuedAttr<BoolAttr, "false">:$tf32)> {
  let summary = "forward (x, w -> y), data_gradient (dy, w -> dx) or weight_gradient (x, dy -> dw); see plan.proto.";
}
def Exec_CopyOp : Exec_StepOp<"copy", (ins)> {
  let summary = "Copies one buffer to another of the same size.";
}

def Exec_OutputOp : Op<Exec_Dialect, "output", []> {
  let summary = "Names a buffer that holds a result when the program ends.";
  let arguments = (ins StrAttr:$name, AnyStaticShapeMemRef:$buffer);
  let assemblyFormat = "$name `,` $buffer attr-dict `:` type($buffer)";
}

def Exec_KernelOp : Op<Exec_Dialect, "kernel", [IsolatedFromAbove, SingleBlock, NoTerminator, Symbol]> {
  let summary = "A kernel to generate: holds one graph.fused whose operands are the block's arguments.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}
#endif
