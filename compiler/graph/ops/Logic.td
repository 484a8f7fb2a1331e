// Comparisons, tests and bool arithmetic: bool results, no gradient.
include "compiler/graph/GraphBase.td"

class Graph_CompareOp<string mnemonic> : Graph_PredicateOp<mnemonic, (ins Tensor:$a, Tensor:$b)>;
class Graph_LogicOp<string mnemonic> : Graph_PredicateOp<mnemonic, (ins BoolTensor:$a, BoolTensor:$b)>;

def Graph_EqualOp : Graph_CompareOp<"equal"> {
  let summary = "a == b; false for NaN.";
}
def Graph_NotEqualOp : Graph_CompareOp<"not_equal"> {
  let summary = "a != b; true for NaN. Not an ONNX op.";
}
def Graph_GreaterOp : Graph_CompareOp<"greater"> {
  let summary = "a > b.";
}
def Graph_GreaterOrEqualOp : Graph_CompareOp<"greater_or_equal"> {
  let summary = "a >= b.";
}
def Graph_LessOp : Graph_CompareOp<"less"> {
  let summary = "a < b.";
}
def Graph_LessOrEqualOp : Graph_CompareOp<"less_or_equal"> {
  let summary = "a <= b.";
}
def Graph_AndOp : Graph_LogicOp<"and"> {
  let summary = "Both.";
}
def Graph_OrOp : Graph_LogicOp<"or"> {
  let summary = "Either or both.";
}
def Graph_XorOp : Graph_LogicOp<"xor"> {
  let summary = "Exactly one.";
}
def Graph_NotOp : Graph_PredicateOp<"not", (ins BoolTensor:$x)> {
  let summary = "The opposite.";
}
def Graph_IsNaNOp : Graph_PredicateOp<"is_nan", (ins FloatTensor:$x)> {
  let summary = "Whether an element is not a number.";
}
def Graph_IsInfOp : Graph_PredicateOp<"is_inf", (ins FloatTensor:$x, DefaultValuedAttr<SI64Attr, "1">:$detect_negative,
                                                     DefaultValuedAttr<SI64Attr, "1">:$detect_positive)> {
  let summary = "Whether an element is infinite, of the signs asked for.";
}
def Graph_IsFiniteOp : Graph_PredicateOp<"is_finite", (ins FloatTensor:$x)> {
  let summary = "Whether an element is neither infinite nor NaN. Not an ONNX op.";
}
