// Matrix products.
include "compiler/graph/GraphBase.td"

def Graph_MatMulOp : Graph_Op<"matmul", "Allow", [Differentiable, DeclareOpInterfaceMethods<LibraryOpInterface, ["buildWithEpilogue"]>]> {
  let summary = "Matrix product over the last two axes; leading axes are batches and broadcast (ONNX MatMul-13).";
  let description = [{
    `transpose_a` and `transpose_b` swap the last two axes of an operand first. Operands have rank >= 2; the importer's rank-1 form is reshaped.
    `bias`, one value for each column, is added before the result is rounded; fusion gives it one.
    Canonicalization expands batch axes that broadcast into each other ([2,1,m,k] by [1,3,k,n]), which a library cannot stride over, and takes
    transposes of the last two axes into the flags.
  }];
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, Optional<FloatTensor>:$bias,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_a, DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs FloatTensor:$c);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "bool":$transposeA, "bool":$transposeB),
                            "build($_builder, $_state, a, b, ::mlir::Value(), transposeA, transposeB);">];
  let hasCanonicalizer = 1;
}
def Graph_GemmOp : Graph_Op<"gemm", "Allow", [Decomposable]> {
  let summary = "Y = alpha op(A) op(B) + beta C over matrices; C broadcasts to Y (ONNX Gemm-13).";
  let arguments = (ins FloatTensor:$A, FloatTensor:$B, Optional<FloatTensor>:$C, DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
                       DefaultValuedAttr<F32Attr, "1.0f">:$beta, DefaultValuedAttr<SI64Attr, "0">:$transA,
                       DefaultValuedAttr<SI64Attr, "0">:$transB);
  let results = (outs FloatTensor:$Y);
}
def Graph_AttentionOp : Graph_Op<"attention", "Allow", [AttrSizedOperandSegments, Decomposable]> {
  let summary = "Scaled dot-product attention, softmax(scale Q K^T + mask) V (ONNX Attention-23/24/25).";
  let description = [{
    Q, K and V are [batch, heads, length, size], or [batch, length, heads * size] with `q_num_heads` and `kv_num_heads`; several query heads may
    share a head of keys. `past_key` and `past_value` are put in front of K and V. A bool mask (true attends), `is_causal`, the window and
    `nonpad_kv_seqlen` exclude keys, a float mask is added. A query that may attend to no key gives zeros.
  }];
  let arguments = (ins FloatTensor:$Q, FloatTensor:$K, FloatTensor:$V, Optional<Tensor>:$attn_mask, Optional<FloatTensor>:$past_key,
                       Optional<FloatTensor>:$past_value, Optional<IntTensor>:$nonpad_kv_seqlen,
                       DefaultValuedAttr<SI64Attr, "0">:$is_causal, OptionalAttr<SI64Attr>:$kv_num_heads,
                       DefaultValuedAttr<SI64Attr, "-1">:$left_window_size, OptionalAttr<SI64Attr>:$q_num_heads,
                       DefaultValuedAttr<SI64Attr, "0">:$qk_matmul_output_mode, DefaultValuedAttr<SI64Attr, "-1">:$right_window_size,
                       OptionalAttr<F32Attr>:$scale, DefaultValuedAttr<F32Attr, "0.0f">:$softcap, OptionalAttr<SI64Attr>:$softmax_precision);
  let results = (outs FloatTensor:$Y, FloatTensor:$present_key, FloatTensor:$present_value, FloatTensor:$qk_matmul_output);
}
def Graph_RotaryEmbeddingOp : Graph_Op<"rotary_embedding", "Infer", [Decomposable]> {
  let summary = "Rotates pairs of features by angles that grow with the position (ONNX RotaryEmbedding-23).";
  let description = [{
    X is [batch, heads, length, size], or [batch, length, heads * size] with `num_heads`. The caches are [positions, angles] with `position_ids`
    [batch, length], else [batch, length, angles]. Only the first `rotary_embedding_dim` features turn (0: all); feature i goes with
    i + angles, or with its neighbour where `interleaved`.
  }];
  let arguments = (ins FloatTensor:$X, FloatTensor:$cos_cache, FloatTensor:$sin_cache, Optional<IntTensor>:$position_ids,
                       DefaultValuedAttr<SI64Attr, "0">:$interleaved, DefaultValuedAttr<SI64Attr, "0">:$num_heads,
                       DefaultValuedAttr<SI64Attr, "0">:$rotary_embedding_dim);
  let results = (outs FloatTensor:$Y);
}
