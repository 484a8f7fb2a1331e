// One scalar from one scalar of each operand.
include "compiler/graph/GraphBase.td"

def Graph_AddOp : Graph_BinaryOp<"add", "Infer", [Differentiable, Commutative]> {
  let summary = "Adds, with broadcasting.";
}
def Graph_MulOp : Graph_BinaryOp<"mul", "Infer", [Differentiable, Commutative]> {
  let summary = "Multiplies, with broadcasting.";
}
def Graph_TanhOp : Graph_UnaryOp<"tanh", "Infer", [Differentiable]> {
  let summary = "Hyperbolic tangent.";
}
def Graph_SubOp : Graph_BinaryOp<"sub", "Infer", [Differentiable]> {
  let summary = "Subtracts, with broadcasting.";
}
def Graph_NegOp : Graph_UnaryOp<"neg", "Clear", [Differentiable]> {
  let summary = "Negates.";
}
