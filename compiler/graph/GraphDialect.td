// The dialect of the tensor level.
#ifndef HALFTONE_GRAPH_DIALECT_TD
#define HALFTONE_GRAPH_DIALECT_TD
include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::halftone::graph";
  let summary = "Tensor programs: a model's forward graph, its gradient and its optimizer step.";
  let description = [{
    Values are ranked tensors of static shape. Op names are the ONNX names in snake_case, attribute names are ONNX's.
    Float element types are f32 until the precision phase colours the graph.
  }];
  let usePropertiesForAttributes = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    // One a family, defined in the family's generated file.
    void registerProgramOps();
    void registerElementwiseOps();
    void registerLogicOps();
    void registerActivationOps();
    void registerMovementOps();
    void registerReductionOps();
    void registerProductOps();
    void registerWindowOps();
    void registerNormalizationOps();
    void registerLossOps();
    void registerRandomOps();
  }];
}
#endif
