// Random numbers: Philox keyed by (seed, step, node, element).
include "compiler/graph/GraphBase.td"

def Graph_DropoutOp : Graph_Op<"dropout", "Clear", [Differentiable, Decomposable, DeclareOpInterfaceMethods<StochasticOpInterface>]> {
  let summary = "The input in inference; in training a random share `ratio` is 0 and the rest is scaled up (ONNX Dropout-7…22).";
  let description = [{
    Without `training_mode` it is the input, and the mask all true. Where isTraining() holds, buildTraining gives the op its random
    numbers; decompose always builds the inference form.
  }];
  let arguments = (ins Tensor:$data, OptionalAttr<NumberAttr>:$ratio, OptionalAttr<NumberAttr>:$training_mode,
                       OptionalAttr<SI64Attr>:$seed);
  let results = (outs Tensor:$output, BoolTensor:$mask);
  let extraClassDeclaration = "double getDropRatio();";
  let hasCanonicalizeMethod = 1;
}
def Graph_DropoutMaskOp : Graph_Op<"dropout_mask", "Untouched", [NoGradient, DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "0 with probability `ratio`, else 1 / (1 - ratio); f32 of shape `shape`.";
  let description = [{
    Element i is 0 where the first word of Philox4x32-10 with counter (i, 0, node_id, step) and key (seed low, seed high) is below
    ratio * 2^32. Seed and step are one integer each (step mod 2^32). The same numbers come out however often and wherever it is computed.
  }];
  let arguments = (ins IntTensor:$seed, IntTensor:$step, SI64Attr:$node_id, F32Attr:$ratio, DenseI64ArrayAttr:$shape);
  let results = (outs FloatTensor:$mask);
}
