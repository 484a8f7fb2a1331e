// Matrix products.
include "compiler/graph/GraphBase.td"

def Graph_MatMulOp : Graph_Op<"matmul", "Allow", [Differentiable, DeclareOpInterfaceMethods<LibraryOpInterface>]> {
  let summary = "Matrix product over the last two axes; leading axes are batches and broadcast (ONNX MatMul-13).";
  let description = [{
    `transpose_a` and `transpose_b` swap the last two axes of an operand first. Operands have rank >= 2; the importer's rank-1 form is reshaped.
    Canonicalization expands batch axes that broadcast into each other ([2,1,m,k] by [1,3,k,n]), which a library cannot stride over, and takes
    transposes of the last two axes into the flags.
  }];
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs FloatTensor:$c);
  let hasCanonicalizer = 1;
}
def Graph_GemmOp : Graph_Op<"gemm", "Allow", [Decomposable]> {
  let summary = "Y = alpha op(A) op(B) + beta C over matrices; C broadcasts to Y (ONNX Gemm-13).";
  let arguments = (ins FloatTensor:$A, FloatTensor:$B, Optional<FloatTensor>:$C, DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
                       DefaultValuedAttr<F32Attr, "1.0f">:$beta, DefaultValuedAttr<SI64Attr, "0">:$transA,
                       DefaultValuedAttr<SI64Attr, "0">:$transB);
  let results = (outs FloatTensor:$Y);
}
