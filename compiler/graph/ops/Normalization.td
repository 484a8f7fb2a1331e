// Normalizations: composites that stay whole through colouring and compute in FP32. Each has its statistics among its results, because the
// gradient reads them; results that nobody uses are dropped with the decomposition.
include "compiler/graph/GraphBase.td"

class Graph_NormalizationOp<string mnemonic> : Graph_Op<mnemonic, "Deny", [Differentiable, Decomposable]> {
  // Affine parameters and statistics stay f32; only what is normalized and its result may be low.
  let extraClassDeclaration = [{
    bool keepsWide(unsigned operand) { return operand != 0; }
    bool keepsWideResult(unsigned result) { return result != 0; }
  }];
}

def Graph_SoftmaxOp : Graph_NormalizationOp<"softmax"> {
  let summary = "exp(x - max(x)) / sum(exp(x - max(x))) along one axis (ONNX Softmax-13).";
  let description = "A row of minus infinities gives NaN, as in PyTorch, and gets gradient 0: where a model puts zeros in its place, training goes on.";
  let arguments = (ins FloatTensor:$input, DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs FloatTensor:$output);
}
def Graph_LogSoftmaxOp : Graph_NormalizationOp<"log_softmax"> {
  let summary = "x - max(x) - log(sum(exp(x - max(x)))) along one axis (ONNX LogSoftmax-13).";
  let arguments = (ins FloatTensor:$input, DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs FloatTensor:$output);
}
def Graph_LayerNormalizationOp : Graph_NormalizationOp<"layer_normalization"> {
  let summary = "Normalizes over the axes from `axis` on, then scales and shifts (ONNX LayerNormalization-17).";
  let description = "Mean and InvStdDev have extent 1 in the normalized axes and are FP32 (`stash_type` is not read: arithmetic is always wide).";
  let arguments = (ins FloatTensor:$X, FloatTensor:$Scale, Optional<FloatTensor>:$B, DefaultValuedAttr<SI64Attr, "-1">:$axis,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon, DefaultValuedAttr<SI64Attr, "1">:$stash_type);
  let results = (outs FloatTensor:$Y, FloatTensor:$Mean, FloatTensor:$InvStdDev);
}
def Graph_RMSNormalizationOp : Graph_NormalizationOp<"rms_normalization"> {
  let summary = "Divides by the root of the mean square over the axes from `axis` on, then scales (ONNX RMSNormalization-23).";
  let arguments = (ins FloatTensor:$X, FloatTensor:$scale, DefaultValuedAttr<SI64Attr, "-1">:$axis,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon, DefaultValuedAttr<SI64Attr, "1">:$stash_type);
  let results = (outs FloatTensor:$Y, FloatTensor:$InvStdDev);
}
def Graph_InstanceNormalizationOp : Graph_NormalizationOp<"instance_normalization"> {
  let summary = "Normalizes each channel of each row over the spatial axes (ONNX InstanceNormalization-6/22).";
  let arguments = (ins FloatTensor:$input, FloatTensor:$scale, FloatTensor:$B, DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon);
  let results = (outs FloatTensor:$output, FloatTensor:$mean, FloatTensor:$inv_std_dev);
}
def Graph_GroupNormalizationOp : Graph_NormalizationOp<"group_normalization"> {
  let summary = "Normalizes groups of channels of each row (ONNX GroupNormalization-18/21).";
  let description = [{
    Before `opset` 21 scale and bias have one element a group, from then on one a channel.
  }];
  let arguments = (ins FloatTensor:$X, FloatTensor:$scale, FloatTensor:$bias, SI64Attr:$num_groups,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon, DefaultValuedAttr<SI64Attr, "1">:$stash_type,
                       DefaultValuedAttr<SI64Attr, "21">:$opset);
  let results = (outs FloatTensor:$Y, FloatTensor:$mean, FloatTensor:$inv_std_dev);
}
def Graph_BatchNormalizationOp : Graph_Op<"batch_normalization", "Infer",
    [Differentiable, Decomposable, DeclareOpInterfaceMethods<TrainingOpInterface>]> {
  let summary = "Normalizes each channel over the batch and the spatial axes (ONNX BatchNormalization-9/14/15).";
  let description = [{
    `training_mode` 1 uses the batch's mean and biased variance, and moves the running statistics: new = momentum old + (1 - momentum) batch,
    the variance by its unbiased estimate (PyTorch's rule, not ONNX's). 0 uses the running statistics, which stay; gradients flow to X,
    scale and B either way, none through the running results. Scale, B and all statistics are FP32 even where X and Y are low. The saved
    results are [1, C, 1, ...].
  }];
  let arguments = (ins FloatTensor:$X, FloatTensor:$scale, FloatTensor:$B, FloatTensor:$input_mean, FloatTensor:$input_var,
                       DefaultValuedAttr<F32Attr, "1e-05f">:$epsilon, DefaultValuedAttr<F32Attr, "0.9f">:$momentum,
                       DefaultValuedAttr<SI64Attr, "0">:$training_mode);
  let results = (outs FloatTensor:$Y, FloatTensor:$running_mean, FloatTensor:$running_var, FloatTensor:$saved_mean,
                      FloatTensor:$saved_inv_std);
  // Affine parameters and statistics stay f32; only what is normalized and its result may be low.
  let extraClassDeclaration = [{
    bool keepsWide(unsigned operand) { return operand != 0; }
    bool keepsWideResult(unsigned result) { return result != 0; }
  }];
}
