// Base classes of the graph dialect's operators.
#ifndef HALFTONE_GRAPH_BASE_TD
#define HALFTONE_GRAPH_BASE_TD
include "compiler/graph/GraphDialect.td"
include "compiler/interfaces/Interfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"


def FloatTensor : StaticShapeTensorOf<[F64, F32, F16, BF16]>;
def IntTensor : StaticShapeTensorOf<[AnySignlessInteger, UI8]>;
def BoolTensor : StaticShapeTensorOf<[I1]>;
def Tensor : TypeAlias<AnyStaticShapeTensor, "tensor of static shape">;

// A number that an ONNX scalar input became: float or integer attribute (numberOr in Constants.h reads it).
def NumberAttr : Attr<CPred<"::llvm::isa<::mlir::FloatAttr, ::mlir::IntegerAttr>($_self)">, "a number"> {
  let storageType = "::mlir::TypedAttr";
  let returnType = "::mlir::TypedAttr";
  let convertFromStorage = "$_self";
}

class Precision<string kind> : ParamNativeOpTrait<"HasPrecision", "::halftone::PrecisionClass::" # kind> {
  let cppNamespace = "::halftone";
}
def NoGradient : NativeOpTrait<"NoGradient"> { let cppNamespace = "::halftone"; }
// Gradient rule declared: the op's .cpp defines buildVjp.
def Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def Decomposable : DeclareOpInterfaceMethods<DecomposableOpInterface>;

// A pure op. Its .cpp defines inferReturnTypes(context, location, Adaptor, types) and evaluate; `precision` is its PrecisionClass.
class Graph_Op<string mnemonic, string precision, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, [Pure, InferTypeOpAdaptorWithIsCompatible, PrecisionOpInterface, Precision<precision>,
                                   DeclareOpInterfaceMethods<ReferenceOpInterface>] # traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::halftone::graph::haveSameShapes(inferred, actual);
    }
  }];
}

// Elementwise with broadcasting. The .cpp defines emitScalar and evaluate (see Evaluate.h); the result has the broadcast shape
// and the element type of `typeOperand`. All operands are tensors.
class Graph_ElementwiseOp<string mnemonic, string precision, list<Trait> traits = [], int typeOperand = 0>
    : Graph_Op<mnemonic, precision, [DeclareOpInterfaceMethods<ScalarOpInterface>] # traits> {
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return ::halftone::graph::haveSameShapes(inferred, actual);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::halftone::graph::inferElementwise(location, adaptor.getOperands(), }] # typeOperand # [{, types);
    }
  }];
}
class Graph_UnaryOp<string mnemonic, string precision, list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, precision, traits> {
  let arguments = (ins Tensor:$x);
  let results = (outs Tensor:$y);
}
class Graph_BinaryOp<string mnemonic, string precision, list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, precision, traits> {
  let arguments = (ins Tensor:$a, Tensor:$b);
  let results = (outs Tensor:$c);
}
// Elementwise with a bool result.
class Graph_PredicateOp<string mnemonic, dag ins> : Graph_ElementwiseOp<mnemonic, "Untouched", [NoGradient], -1> {
  let arguments = ins;
  let results = (outs BoolTensor:$c);
}
#endif
