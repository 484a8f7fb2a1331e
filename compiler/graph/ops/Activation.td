// Activation functions of networks, elementwise.
include "compiler/graph/GraphBase.td"

class Graph_ActivationOp<string mnemonic, string precision, dag parameters = (ins), list<Trait> traits = [Differentiable]>
    : Graph_UnaryOp<mnemonic, precision, traits> {
  let arguments = !con((ins FloatTensor:$x), parameters);
  let results = (outs FloatTensor:$y);
}

def Graph_ReluOp : Graph_UnaryOp<"relu", "Clear", [Differentiable]> {
  let summary = "max(x, 0); its gradient at 0 is 0.";
}
def Graph_SigmoidOp : Graph_ActivationOp<"sigmoid", "Infer"> {
  let summary = "1 / (1 + exp(-x)).";
}
def Graph_GeluOp : Graph_ActivationOp<"gelu", "Infer", (ins DefaultValuedAttr<StrAttr, "\"none\"">:$approximate)> {
  let summary = "x times the normal distribution function of x, exactly (`none`) or by a tanh formula (`tanh`).";
  let hasVerifier = 1;
}
def Graph_GeluGradOp : Graph_ElementwiseOp<"gelu_grad", "Infer", [NoGradient]> {
  let summary = "dy times the derivative of gelu at x: one op, so that no exp in it is denied low precision.";
  let arguments = (ins FloatTensor:$dy, FloatTensor:$x, DefaultValuedAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs FloatTensor:$dx);
}
def Graph_SoftplusOp : Graph_ActivationOp<"softplus", "DenyFp16"> {
  let summary = "log(1 + exp(x)).";
}
def Graph_SoftsignOp : Graph_ActivationOp<"softsign", "Infer"> {
  let summary = "x / (1 + |x|).";
}
def Graph_MishOp : Graph_ActivationOp<"mish", "DenyFp16"> {
  let summary = "x tanh(log(1 + exp(x))).";
}
def Graph_SwishOp : Graph_ActivationOp<"swish", "Infer", (ins DefaultValuedAttr<F32Attr, "1.0f">:$alpha)> {
  let summary = "x / (1 + exp(-alpha x)).";
}
def Graph_HardSigmoidOp : Graph_ActivationOp<"hard_sigmoid", "Infer", (ins DefaultValuedAttr<F32Attr, "0.2f">:$alpha,
                                                                          DefaultValuedAttr<F32Attr, "0.5f">:$beta)> {
  let summary = "max(0, min(1, alpha x + beta)); its gradient at both ends is 0.";
}
def Graph_HardSwishOp : Graph_ActivationOp<"hard_swish", "Infer"> {
  let summary = "x max(0, min(1, x / 6 + 1/2)).";
}
def Graph_LeakyReluOp : Graph_ActivationOp<"leaky_relu", "Infer", (ins DefaultValuedAttr<F32Attr, "0.01f">:$alpha)> {
  let summary = "x where x > 0, else alpha x.";
}
def Graph_ThresholdedReluOp : Graph_ActivationOp<"thresholded_relu", "Infer", (ins DefaultValuedAttr<F32Attr, "1.0f">:$alpha)> {
  let summary = "x where x > alpha, else 0.";
}
def Graph_EluOp : Graph_ActivationOp<"elu", "Infer", (ins DefaultValuedAttr<F32Attr, "1.0f">:$alpha)> {
  let summary = "x where x > 0, else alpha (exp(x) - 1).";
}
def Graph_CeluOp : Graph_ActivationOp<"celu", "Infer", (ins DefaultValuedAttr<F32Attr, "1.0f">:$alpha)> {
  let summary = "x where x > 0, else alpha (exp(x / alpha) - 1).";
}
def Graph_SeluOp : Graph_ActivationOp<"selu", "Infer", (ins DefaultValuedAttr<F32Attr, "1.67326319217681884765625f">:$alpha,
                                                           DefaultValuedAttr<F32Attr, "1.05070102214813232421875f">:$gamma)> {
  let summary = "gamma x where x > 0, else gamma alpha (exp(x) - 1).";
}
def Graph_PReluOp : Graph_ElementwiseOp<"prelu", "Infer", [Differentiable]> {
  let summary = "x where x > 0, else slope x; the slope broadcasts to x.";
  let arguments = (ins FloatTensor:$x, FloatTensor:$slope);
  let results = (outs FloatTensor:$y);
}
