// Losses; always FP32.
include "compiler/graph/GraphBase.td"

class Graph_LossOp<string mnemonic, list<Trait> traits = [Differentiable]> : Graph_Op<mnemonic, "Deny", [Decomposable] # traits>;

def Graph_CrossEntropyOp : Graph_LossOp<"cross_entropy"> {
  let summary = "Mean over the valid labels of -log(softmax(logits)[label]); a scalar.";
  let description = [{
    `target` has the shape of `logits` (rank 2 to 4) without the class axis. Labels equal to `ignore_index` count nowhere. Where all are ignored the
    loss is 0 / 0 = NaN, as in PyTorch, and the gradient is 0: a NaN loss beside finite gradients means exactly this. The gradient recomputes
    the softmax from the logits, (softmax - onehot) valid / count dy, so that nothing as large as the logits is saved.
  }];
  let arguments = (ins FloatTensor:$logits, IntTensor:$target, DefaultValuedAttr<SI64Attr, "-1">:$axis,
                       DefaultValuedAttr<SI64Attr, "-100">:$ignore_index);
  let results = (outs FloatTensor:$loss);
}
def Graph_NegativeLogLikelihoodLossOp : Graph_LossOp<"negative_log_likelihood_loss"> {
  let summary = "-weight[label] input[label] along axis 1, reduced (ONNX NegativeLogLikelihoodLoss-13/22).";
  let description = "`reduction` none keeps the shape of `target`; mean divides by the sum of the labels' weights; ignored labels weigh 0.";
  let arguments = (ins FloatTensor:$input, IntTensor:$target, Optional<FloatTensor>:$weight, OptionalAttr<SI64Attr>:$ignore_index,
                       DefaultValuedAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs FloatTensor:$loss);
}
def Graph_SoftmaxCrossEntropyLossOp : Graph_LossOp<"softmax_cross_entropy_loss", []> {
  let summary = "negative_log_likelihood_loss of log_softmax along axis 1 (ONNX SoftmaxCrossEntropyLoss-13).";
  let arguments = (ins FloatTensor:$scores, IntTensor:$labels, Optional<FloatTensor>:$weights, OptionalAttr<SI64Attr>:$ignore_index,
                       DefaultValuedAttr<StrAttr, "\"mean\"">:$reduction);
  let results = (outs FloatTensor:$output, FloatTensor:$log_prob);
}

// Mean over elements of an error between prediction and target of one shape. With `row_weight` [rows], one number a row of the leading
// axis (0 for rows that only fill a batch), the mean is sum(w e) / (sum(w) elements of a row). No row weighs anything: NaN.
class Graph_RowLossOp<string mnemonic> : Graph_LossOp<mnemonic> {
  let arguments = (ins FloatTensor:$prediction, FloatTensor:$target, Optional<FloatTensor>:$row_weight);
  let results = (outs FloatTensor:$loss);
}
def Graph_MseLossOp : Graph_RowLossOp<"mse_loss"> {
  let summary = "Mean of (prediction - target)^2; rows may be weighted.";
}
def Graph_L1LossOp : Graph_RowLossOp<"l1_loss"> {
  let summary = "Mean of |prediction - target|, gradient 0 where they are equal; rows may be weighted.";
}
def Graph_BceWithLogitsLossOp : Graph_RowLossOp<"bce_with_logits_loss"> {
  let summary = "Mean of max(x, 0) - x t + log(1 + exp(-|x|)) for logits x and probabilities t; rows may be weighted.";
}
