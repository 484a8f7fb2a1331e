// Matrix products.
include "compiler/graph/GraphBase.td"

def Graph_MatMulOp : Graph_Op<"matmul", "Allow", [Differentiable, DeclareOpInterfaceMethods<LibraryOpInterface>]> {
  let summary = "Matrix product over the last two axes; leading axes are batches and broadcast (ONNX MatMul-13).";
  let description = [{
    `transpose_a` and `transpose_b` swap the last two axes of an operand first. Operands have rank >= 2; the importer's rank-1 form is reshaped.
    Where both have batch axes, these are equal or one product of them is 1.
  }];
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs FloatTensor:$c);
}
