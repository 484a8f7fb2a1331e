// One value from all elements along some axes.
include "compiler/graph/GraphBase.td"

// ONNX Reduce*: `axes` empty or absent reduces all, or none with noop_with_empty_axes; arithmetic is f32 or wider. The .cpp names the
// operation; type rule and axes are shared (Reduce.h).
class Graph_ReduceOp<string mnemonic, string precision, list<Trait> traits = [Differentiable]>
    : Graph_Op<mnemonic, precision, [DeclareOpInterfaceMethods<ReductionOpInterface, ["emitPrepare", "emitFinish"]>] # traits> {
  let arguments = (ins Tensor:$data, OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedAttr<SI64Attr, "1">:$keepdims,
                       DefaultValuedAttr<SI64Attr, "0">:$noop_with_empty_axes);
  let results = (outs Tensor:$reduced);
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

def Graph_ReduceSumOp : Graph_ReduceOp<"reduce_sum", "DenyFp16"> {
  let summary = "Sum along axes.";
}
