// The facets of an operator. Each is declared in ODS beside the operator, so that a forgotten rule does not link.
#ifndef HALFTONE_INTERFACES_TD
#define HALFTONE_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Has a gradient rule: pure maths; broadcasting and fan-out are summed by the driver.";
  let methods = [InterfaceMethod<[{
      Builds the gradient of each operand from those of the results. `grads` has one entry a result, null where the
      loss does not depend on it. Returns one value an operand, null where none flows (indices, masks). A returned value may
      have the shape of the result where the operand was broadcast (the driver sums it down), else the operand's shape.
    }], "::llvm::SmallVector<::mlir::Value>", "buildVjp",
    (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$grads)>];
}

def ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Evaluates on the host: the oracle of all tests, and the constant folder.";
  let methods = [InterfaceMethod<[{
      Computes all results: floats in double without rounding, integers exactly. `operands` has one entry an operand.
      Fails only where values (not types) make the op undefined, such as an index out of range.
    }], "::llvm::LogicalResult", "evaluate",
    (ins "::llvm::ArrayRef<::halftone::HostTensor>":$operands,
         "::llvm::SmallVectorImpl<::halftone::HostTensor> &":$results)>];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "States the list of the colouring algorithm that the op starts in.";
  let methods = [
    StaticInterfaceMethod<"", "::halftone::PrecisionClass", "getPrecisionClass">,
    InterfaceMethod<[{
        Whether operand `operand` stays f32 whatever the op's colour (affine parameters and statistics of normalizations, eps, scales). An op
        that has such operands writes the method in its extraClassDeclaration.
      }], "bool", "keepsWide", (ins "unsigned":$operand), "", "return false;">,
    InterfaceMethod<"The same for a result (saved or running statistics).", "bool", "keepsWideResult",
      (ins "unsigned":$result), "", "return false;">];
}

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Elementwise with NumPy broadcasting: one scalar from one scalar of each operand.";
  let methods = [InterfaceMethod<[{
      Emits the scalar result from the operands' scalars (f32 for floats, the integer type else).
    }], "::mlir::Value", "emitScalar", (ins "::halftone::ScalarBuilder &":$b, "::mlir::ValueRange":$operands)>];
}

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Emits one element of a result, loading operands at indices it computes (moves, windows, gathers).";
  let methods = [
    InterfaceMethod<"Emits the element of result `result` at `index`.", "::mlir::Value", "emitElement",
      (ins "::halftone::ElementBuilder &":$b, "unsigned":$result, "::mlir::ValueRange":$index)>,
    InterfaceMethod<[{
        Whether an element costs about one load, so that computing it again inside a consumer is free (index maps yes, windows no).
      }], "bool", "isIndexMap", (ins), "", "return true;">];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Reduces operand 0 over some axes with an associative operation.";
  let methods = [
    InterfaceMethod<"The reduced axes, ascending, in 0..rank-1.", "::llvm::SmallVector<int64_t>", "getReducedAxes">,
    InterfaceMethod<"Start value of the accumulator (f32 or the integer type).", "::mlir::Value", "emitInit",
      (ins "::halftone::ScalarBuilder &":$b)>,
    InterfaceMethod<"One step: accumulator and element, or two accumulators.", "::mlir::Value", "emitCombine",
      (ins "::halftone::ScalarBuilder &":$b, "::mlir::Value":$accumulator, "::mlir::Value":$element)>,
    InterfaceMethod<"What is done to an element before it is combined (reduce_sum_square squares).", "::mlir::Value", "emitPrepare",
      (ins "::halftone::ScalarBuilder &":$b, "::mlir::Value":$element), "", "return element;">,
    InterfaceMethod<"What is done to the final accumulator; `count` elements were combined.", "::mlir::Value", "emitFinish",
      (ins "::halftone::ScalarBuilder &":$b, "::mlir::Value":$accumulator, "int64_t":$count), "", "return accumulator;">,
    InterfaceMethod<"The same reduction of `data` over `axes`, which stay with extent 1.", "::mlir::Value", "buildOver",
      (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::Value":$data, "::llvm::ArrayRef<int64_t>":$axes), "",
      "return b.create<ConcreteOp>(data, axes);">,
    InterfaceMethod<[{
        Whether reducing some of the axes first, and the others after that, gives the same value. An op for which it does writes the method in its
        extraClassDeclaration.
      }], "bool", "reducesInStages", (ins), "", "return false;">];
}

def ScatterOpInterface : OpInterface<"ScatterOpInterface"> {
  let cppNamespace = "::halftone";
  let description = [{
    Adds updates [n, width] into rows of a zeroed result [rows, width] at row numbers that are data (embedding gradients).
    Deterministic: a kernel adds the updates of a row in ascending order of n.
  }];
  let methods = [
    InterfaceMethod<"The operand that holds n row numbers.", "unsigned", "getIndicesOperand">,
    InterfaceMethod<"The operand that holds the updates.", "unsigned", "getUpdatesOperand">];
}

def LibraryOpInterface : OpInterface<"LibraryOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Runs in a library: its operands and results are whole buffers of one float type.";
  let methods = [
    InterfaceMethod<"Emits the exec step(s) that compute the op from `inputs` into `outputs` (memref values).", "void", "lower",
      (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$outputs)>,
    InterfaceMethod<"Floating-point operations, a multiply-add counted as two.", "double", "getFlops">,
    InterfaceMethod<"Value of the op and of `next`, the only reader of its result, built as one op of the library; null where it has none.",
      "::mlir::Value", "buildWithEpilogue", (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::Operation *":$next), "", "return nullptr;">];
}

def ChannelsLastOpInterface : OpInterface<"ChannelsLastOpInterface"> {
  let cppNamespace = "::halftone";
  let description = [{
    Can also be computed on tensors whose channels, axis 1, are the last axis instead, which some libraries are faster at (NHWC instead of NCHW).
  }];
  let methods = [InterfaceMethod<[{
      Builds the op on `operands`, all with axis 1 moved to the end. Its one result has axis 1 at the end too.
    }], "::mlir::Value", "buildChannelsLast", (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::ValueRange":$operands)>];
}

def TrainingOpInterface : OpInterface<"TrainingOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Behaves differently in training, and keeps running statistics there (batch normalization).";
  let methods = [
    InterfaceMethod<"Chooses batch statistics (true) or running statistics (false).", "void", "setTraining", (ins "bool":$training)>,
    InterfaceMethod<[{
        In training: pairs (operand, result): the persistent value read as the operand becomes the result when the step is applied.
      }], "::llvm::SmallVector<std::pair<unsigned, unsigned>>", "getStatisticUpdates">];
}

def StochasticOpInterface : OpInterface<"StochasticOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "Draws random numbers in training (dropout); does nothing random otherwise.";
  let methods = [
    InterfaceMethod<"Whether the op, as it is now, draws random numbers.", "bool", "isTraining">,
    InterfaceMethod<[{
        Builds the training form of result 0, its numbers a function of `seed`, `step` (one integer each) and `nodeId`: made again from
        the same three they are the same. Uses of other results are replaced here.
      }], "::mlir::Value", "buildTraining",
      (ins "::mlir::ImplicitLocOpBuilder &":$b, "::mlir::Value":$seed, "::mlir::Value":$step, "int64_t":$nodeId)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::halftone";
  let description = "A composite: stays whole through autodiff and colouring, becomes primitives before fusion.";
  let methods = [InterfaceMethod<[{
      Builds the op from primitives; one value a result, of the result's shape.
    }], "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::ImplicitLocOpBuilder &":$b)>];
}

#endif
