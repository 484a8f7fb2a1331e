// Index maps: elements are copied, no arithmetic.
include "compiler/graph/GraphBase.td"

class Graph_MoveOp<string mnemonic, list<Trait> traits = [Differentiable]>
    : Graph_Op<mnemonic, "Clear", [DeclareOpInterfaceMethods<ElementOpInterface>] # traits>;

def Graph_ReshapeOp : Graph_MoveOp<"reshape"> {
  let summary = "The same elements in another shape.";
  let description = "ONNX Reshape-5/13/14/…: in `shape` 0 copies the input's extent (unless `allowzero`), one -1 is computed.";
  let arguments = (ins Tensor:$data, DenseI64ArrayAttr:$shape, DefaultValuedAttr<SI64Attr, "0">:$allowzero);
  let results = (outs Tensor:$reshaped);
}
def Graph_TransposeOp : Graph_MoveOp<"transpose"> {
  let summary = "Permutes the axes; result axis i is input axis perm[i].";
  let arguments = (ins Tensor:$data, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let results = (outs Tensor:$transposed);
}
def Graph_ExpandOp : Graph_MoveOp<"expand"> {
  let summary = "Broadcasts to the NumPy broadcast of the input's shape and `shape` (ONNX Expand-8/13).";
  let arguments = (ins Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Tensor:$output);
}
