// Arithmetic: one scalar from one scalar of each operand.
include "compiler/graph/GraphBase.td"

// Unary on floats only.
class Graph_FloatUnaryOp<string mnemonic, string precision, list<Trait> traits = [Differentiable]>
    : Graph_UnaryOp<mnemonic, precision, traits> {
  let arguments = (ins FloatTensor:$x);
  let results = (outs FloatTensor:$y);
}
// Any number of operands, at least one, that broadcast to each other.
class Graph_VariadicOp<string mnemonic, string precision, list<Trait> traits = [Differentiable]>
    : Graph_Op<mnemonic, precision, [DeclareOpInterfaceMethods<ScalarOpInterface>] # traits> {
  let arguments = (ins Variadic<Tensor>:$data_0);
  let results = (outs Tensor:$result);
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::halftone::graph::haveSameShapes(inferred, actual);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      if (adaptor.getOperands().empty())
        return ::mlir::emitOptionalError(location, "needs at least one operand");
      return ::halftone::graph::inferElementwise(location, adaptor.getOperands(), 0, types);
    }
  }];
}

def Graph_AddOp : Graph_BinaryOp<"add", "Infer", [Differentiable, Commutative]> {
  let summary = "Adds, with broadcasting.";
  let hasFolder = 1;
}
def Graph_SubOp : Graph_BinaryOp<"sub", "Infer", [Differentiable]> {
  let summary = "Subtracts, with broadcasting.";
  let hasFolder = 1;
}
def Graph_MulOp : Graph_BinaryOp<"mul", "Infer", [Differentiable, Commutative]> {
  let summary = "Multiplies, with broadcasting.";
  let hasFolder = 1;
}
def Graph_DivOp : Graph_BinaryOp<"div", "Infer", [Differentiable]> {
  let summary = "Divides, with broadcasting; integers truncate towards zero.";
  let hasFolder = 1;
}
def Graph_PowOp : Graph_BinaryOp<"pow", "Deny", [Differentiable]> {
  let summary = "a to the power b, of a's type (ONNX Pow-15).";
  let description = "Small whole exponents and halves that are constants become products and roots when emitted.";
  let hasFolder = 1;
}
def Graph_ModOp : Graph_BinaryOp<"mod", "Deny", [Differentiable]> {
  let summary = "Remainder: sign of the divisor (Python), or of the dividend (C) with `fmod`.";
  let arguments = (ins Tensor:$a, Tensor:$b, DefaultValuedAttr<SI64Attr, "0">:$fmod);
}
def Graph_NegOp : Graph_UnaryOp<"neg", "Clear", [Differentiable]> {
  let summary = "Negates.";
}
def Graph_AbsOp : Graph_UnaryOp<"abs", "Clear", [Differentiable]> {
  let summary = "Absolute value; its gradient at 0 is 0.";
}
def Graph_SignOp : Graph_UnaryOp<"sign", "Clear", [NoGradient]> {
  let summary = "-1, 0 or 1; NaN stays.";
}
def Graph_FloorOp : Graph_FloatUnaryOp<"floor", "Clear", [NoGradient]> {
  let summary = "Largest whole number that is not greater.";
}
def Graph_CeilOp : Graph_FloatUnaryOp<"ceil", "Clear", [NoGradient]> {
  let summary = "Smallest whole number that is not smaller.";
}
def Graph_RoundOp : Graph_FloatUnaryOp<"round", "Clear", [NoGradient]> {
  let summary = "Nearest whole number, halves to even.";
}
def Graph_ExpOp : Graph_FloatUnaryOp<"exp", "Deny"> {
  let summary = "Natural exponential.";
}
def Graph_Expm1Op : Graph_FloatUnaryOp<"expm1", "Deny"> {
  let summary = "exp(x) - 1, accurate near zero.";
}
def Graph_LogOp : Graph_FloatUnaryOp<"log", "DenyFp16"> {
  let summary = "Natural logarithm.";
}
def Graph_SqrtOp : Graph_FloatUnaryOp<"sqrt", "Infer"> {
  let summary = "Square root.";
}
def Graph_ReciprocalOp : Graph_FloatUnaryOp<"reciprocal", "DenyFp16"> {
  let summary = "1 / x.";
}
def Graph_ErfOp : Graph_FloatUnaryOp<"erf", "Infer"> {
  let summary = "Gauss error function.";
}
def Graph_TanhOp : Graph_FloatUnaryOp<"tanh", "Infer"> {
  let summary = "Hyperbolic tangent.";
}
def Graph_SinOp : Graph_FloatUnaryOp<"sin", "Infer"> {
  let summary = "Sine of radians.";
}
def Graph_CosOp : Graph_FloatUnaryOp<"cos", "Infer"> {
  let summary = "Cosine of radians.";
}
def Graph_TanOp : Graph_FloatUnaryOp<"tan", "DenyFp16"> {
  let summary = "Tangent of radians.";
}
def Graph_MaxOp : Graph_VariadicOp<"max", "Clear"> {
  let summary = "Largest of the operands; NaN wins. Ties share the gradient evenly.";
}
def Graph_MinOp : Graph_VariadicOp<"min", "Clear"> {
  let summary = "Smallest of the operands; NaN wins. Ties share the gradient evenly.";
}
def Graph_SumOp : Graph_VariadicOp<"sum", "DenyFp16"> {
  let summary = "Sum of the operands.";
}
def Graph_MeanOp : Graph_VariadicOp<"mean", "DenyFp16"> {
  let summary = "Mean of the operands.";
}
def Graph_ClipOp : Graph_UnaryOp<"clip", "Clear", [Differentiable]> {
  let summary = "Limits to [min, max], as far as these are given (ONNX Clip-6/11/13).";
  let description = "The gradient flows where min <= x <= max, the bounds included, as in PyTorch.";
  let arguments = (ins Tensor:$input, OptionalAttr<NumberAttr>:$min, OptionalAttr<NumberAttr>:$max);
}
def Graph_WhereOp : Graph_ElementwiseOp<"where", "Infer", [Differentiable], 1> {
  let summary = "x where the condition holds, else y; all broadcast.";
  let arguments = (ins BoolTensor:$condition, Tensor:$x, Tensor:$y);
  let results = (outs Tensor:$output);
}
def Graph_IdentityOp : Graph_UnaryOp<"identity", "Clear", [Differentiable]> {
  let summary = "The operand.";
  let hasFolder = 1;
}
def Graph_CastOp : Graph_Op<"cast", "Clear", [Differentiable, DeclareOpInterfaceMethods<ScalarOpInterface>]> {
  let summary = "Converts the element type (ONNX Cast): to integers truncates, to bool tests for non-zero.";
  let description = [{
    The gradient passes between floats and stops elsewhere. `saturate` and `round_mode` of ONNX concern 8-bit floats only.
  }];
  let arguments = (ins Tensor:$input, TypeAttr:$to, OptionalAttr<SI64Attr>:$saturate, OptionalAttr<StrAttr>:$round_mode);
  let results = (outs Tensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Type":$to), [{
    build($_builder, $_state, input, to, ::mlir::IntegerAttr(), ::mlir::StringAttr());
  }]>];
  let hasFolder = 1;
}
def Graph_CastLikeOp : Graph_Op<"cast_like", "Clear", [Differentiable, Decomposable]> {
  let summary = "Casts to the element type of `target_type`.";
  let arguments = (ins Tensor:$input, Tensor:$target_type, OptionalAttr<SI64Attr>:$saturate, OptionalAttr<StrAttr>:$round_mode);
  let results = (outs Tensor:$output);
  let hasCanonicalizeMethod = 1;
}
