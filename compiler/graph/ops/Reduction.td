// One value from all elements along some axes.
include "compiler/graph/GraphBase.td"

// ONNX Reduce*: `axes` empty or absent reduces all, or none with noop_with_empty_axes; arithmetic is f32 or wider. Type rule and axes
// are shared (Reduce.h). The short builder keeps the reduced axes, as gradient rules and decompositions must.
class Graph_AnyReduceOp<string mnemonic, string precision, list<Trait> traits> : Graph_Op<mnemonic, precision, traits> {
  let arguments = (ins Tensor:$data, OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedAttr<SI64Attr, "1">:$keepdims,
                       DefaultValuedAttr<SI64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Tensor:$reduced);
  let builders = [OpBuilder<(ins "::mlir::Value":$data, "::llvm::ArrayRef<int64_t>":$axes), [{
    build($_builder, $_state, data, $_builder.getDenseI64ArrayAttr(axes), /*keepdims=*/1, /*noop_with_empty_axes=*/1);
  }]>];
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::halftone::graph::haveSameShapes(inferred, actual);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::halftone::graph::inferReduction(location, adaptor.getData(), adaptor.getAxes(), adaptor.getKeepdims(),
                                               adaptor.getNoopWithEmptyAxes(), types);
    }
    ::llvm::SmallVector<int64_t> $cppClass::getReducedAxes() {
      return ::halftone::graph::reducedAxes(getData(), getAxes(), getNoopWithEmptyAxes());
    }
  }];
}
class Graph_ReduceOp<string mnemonic, string precision, list<Trait> traits = [Differentiable]>
    : Graph_AnyReduceOp<mnemonic, precision,
                        [DeclareOpInterfaceMethods<ReductionOpInterface, ["emitPrepare", "emitFinish"]>] # traits>;
// A reduction of parts, and then of what the parts gave, is the whole one.
class Graph_StagedReduceOp<string mnemonic, string precision> : Graph_ReduceOp<mnemonic, precision> {
  let extraClassDeclaration = "bool reducesInStages() { return true; }";
}
class Graph_ArgReduceOp<string mnemonic>
    : Graph_Op<mnemonic, "Untouched", [NoGradient, DeclareOpInterfaceMethods<ElementOpInterface, ["isIndexMap"]>]> {
  let arguments = (ins Tensor:$data, DefaultValuedAttr<SI64Attr, "0">:$axis, DefaultValuedAttr<SI64Attr, "1">:$keepdims,
                       DefaultValuedAttr<SI64Attr, "0">:$select_last_index);
  let results = (outs IntTensor:$reduced);
}

def Graph_ReduceSumOp : Graph_StagedReduceOp<"reduce_sum", "DenyFp16"> {
  let summary = "Sum along axes.";
}
def Graph_ReduceMeanOp : Graph_StagedReduceOp<"reduce_mean", "DenyFp16"> {
  let summary = "Mean along axes.";
}
def Graph_ReduceMaxOp : Graph_StagedReduceOp<"reduce_max", "Clear"> {
  let summary = "Maximum along axes; NaN wins. Ties share the gradient evenly.";
}
def Graph_ReduceMinOp : Graph_StagedReduceOp<"reduce_min", "Clear"> {
  let summary = "Minimum along axes; NaN wins. Ties share the gradient evenly.";
}
def Graph_ReduceProdOp : Graph_StagedReduceOp<"reduce_prod", "DenyFp16"> {
  let summary = "Product along axes.";
}
def Graph_ReduceSumSquareOp : Graph_ReduceOp<"reduce_sum_square", "DenyFp16"> {
  let summary = "Sum of squares along axes.";
}
def Graph_ReduceL1Op : Graph_ReduceOp<"reduce_l1", "DenyFp16"> {
  let summary = "Sum of absolute values along axes.";
}
def Graph_ReduceL2Op : Graph_ReduceOp<"reduce_l2", "DenyFp16"> {
  let summary = "Root of the sum of squares along axes; its gradient at 0 is 0.";
}
def Graph_ReduceLogSumOp : Graph_ReduceOp<"reduce_log_sum", "DenyFp16"> {
  let summary = "Logarithm of the sum along axes.";
}
def Graph_ReduceLogSumExpOp : Graph_AnyReduceOp<"reduce_log_sum_exp", "Deny", [Differentiable, Decomposable]> {
  let summary = "Logarithm of the sum of exponentials along axes, the maximum subtracted first.";
  let extraClassDeclaration = "::llvm::SmallVector<int64_t> getReducedAxes();";
}
def Graph_ArgMaxOp : Graph_ArgReduceOp<"arg_max"> {
  let summary = "Place of the first (or last) largest element along an axis; i64.";
}
def Graph_ArgMinOp : Graph_ArgReduceOp<"arg_min"> {
  let summary = "Place of the first (or last) smallest element along an axis; i64.";
}
