// Index maps: elements are copied, no arithmetic.
include "compiler/graph/GraphBase.td"

class Graph_MoveOp<string mnemonic, list<Trait> traits = [Differentiable]>
    : Graph_Op<mnemonic, "Clear", [DeclareOpInterfaceMethods<ElementOpInterface>] # traits>;
// Computes an element in a loop over one axis: not free to compute again.
class Graph_LoopOp<string mnemonic, string precision, list<Trait> traits = [Differentiable]>
    : Graph_Op<mnemonic, precision, [DeclareOpInterfaceMethods<ElementOpInterface, ["isIndexMap"]>] # traits>;
// Integers from nothing but shapes and other integers.
class Graph_IndexOp<string mnemonic>
    : Graph_Op<mnemonic, "Untouched", [NoGradient, DeclareOpInterfaceMethods<ElementOpInterface>]>;
// A reshape under another name; canonicalization leaves only reshape.
class Graph_ReshapeFormOp<string mnemonic> : Graph_Op<mnemonic, "Clear", [Differentiable, Decomposable]> {
  let hasCanonicalizeMethod = 1;
}

def Graph_ReshapeOp : Graph_MoveOp<"reshape"> {
  let summary = "The same elements in another shape.";
  let description = "ONNX Reshape-5/13/14/…: in `shape` 0 copies the input's extent (unless `allowzero`), one -1 is computed.";
  let arguments = (ins Tensor:$data, DenseI64ArrayAttr:$shape, DefaultValuedAttr<SI64Attr, "0">:$allowzero);
  let results = (outs Tensor:$reshaped);
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Graph_FlattenOp : Graph_ReshapeFormOp<"flatten"> {
  let summary = "A matrix: the axes before `axis` are its rows, the others its columns.";
  let arguments = (ins Tensor:$input, DefaultValuedAttr<SI64Attr, "1">:$axis);
  let results = (outs Tensor:$output);
}
def Graph_SqueezeOp : Graph_ReshapeFormOp<"squeeze"> {
  let summary = "Removes the named axes of extent 1; all of them if none is named.";
  let arguments = (ins Tensor:$data, OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs Tensor:$squeezed);
}
def Graph_UnsqueezeOp : Graph_ReshapeFormOp<"unsqueeze"> {
  let summary = "Inserts axes of extent 1; `axes` are those of the result.";
  let arguments = (ins Tensor:$data, DenseI64ArrayAttr:$axes);
  let results = (outs Tensor:$expanded);
}
def Graph_TransposeOp : Graph_MoveOp<"transpose"> {
  let summary = "Permutes the axes; result axis i is input axis perm[i].";
  let arguments = (ins Tensor:$data, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let results = (outs Tensor:$transposed);
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}
def Graph_ExpandOp : Graph_MoveOp<"expand"> {
  let summary = "Broadcasts to the NumPy broadcast of the input's shape and `shape` (ONNX Expand-8/13).";
  let arguments = (ins Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Tensor:$output);
  let hasFolder = 1;
}
def Graph_TileOp : Graph_MoveOp<"tile"> {
  let summary = "Repeats the whole tensor along each axis.";
  let arguments = (ins Tensor:$input, DenseI64ArrayAttr:$repeats);
  let results = (outs Tensor:$output);
}
def Graph_ConcatOp : Graph_MoveOp<"concat"> {
  let summary = "Lays tensors behind one another along an axis.";
  let arguments = (ins Variadic<Tensor>:$inputs, SI64Attr:$axis);
  let results = (outs Tensor:$concat_result);
  let hasFolder = 1;
}
def Graph_SplitOp : Graph_MoveOp<"split"> {
  let summary = "Cuts along an axis into parts of the extents `split`, or into `num_outputs` parts, the last one maybe smaller.";
  let description = "One of the two attributes is there; an importer whose node has neither sets `num_outputs` to the number of its outputs.";
  let arguments = (ins Tensor:$input, DefaultValuedAttr<SI64Attr, "0">:$axis, OptionalAttr<DenseI64ArrayAttr>:$split,
                       OptionalAttr<SI64Attr>:$num_outputs);
  let results = (outs Variadic<Tensor>:$outputs);
}
def Graph_SliceOp : Graph_MoveOp<"slice"> {
  let summary = "Every step-th element from start to (not including) end, along each named axis (ONNX Slice-10/11/13).";
  let description = [{
    Negative starts and ends count from the end of the axis, both are clamped; a negative step goes backwards.
    The gradient is a pad, or slice_grad where a step is not 1.
  }];
  let arguments = (ins Tensor:$data, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$ends, OptionalAttr<DenseI64ArrayAttr>:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs Tensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Value":$data, "int64_t":$axis, "int64_t":$start, "int64_t":$end), [{
    build($_builder, $_state, data, ::llvm::ArrayRef<int64_t>(start), ::llvm::ArrayRef<int64_t>(end),
          $_builder.getDenseI64ArrayAttr(axis), ::mlir::DenseI64ArrayAttr());
  }]>];
  let hasFolder = 1;
}
def Graph_SliceGradOp : Graph_MoveOp<"slice_grad", [NoGradient]> {
  let summary = "Puts the elements of dy where a slice with the same attributes took them from; 0 elsewhere.";
  let description = "`shape` is the result's: that of the sliced tensor.";
  let arguments = (ins FloatTensor:$dy, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$ends,
                       OptionalAttr<DenseI64ArrayAttr>:$axes, OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs FloatTensor:$dx);
}
def Graph_PadOp : Graph_MoveOp<"pad"> {
  let summary = "Adds elements of one value before and behind each axis; negative numbers remove elements (ONNX Pad-11…25).";
  let description = "`pads` holds all numbers for before, then all for behind, of `axes` (default all). Only mode `constant`.";
  let arguments = (ins Tensor:$data, DenseI64ArrayAttr:$pads, OptionalAttr<NumberAttr>:$constant_value,
                       OptionalAttr<DenseI64ArrayAttr>:$axes, DefaultValuedAttr<StrAttr, "\"constant\"">:$mode);
  let results = (outs Tensor:$output);
  let builders = [OpBuilder<(ins "::mlir::Value":$data, "::llvm::ArrayRef<int64_t>":$pads), [{
    build($_builder, $_state, data, pads, ::mlir::TypedAttr(), ::mlir::DenseI64ArrayAttr(), "constant");
  }]>];
}
def Graph_GatherOp : Graph_MoveOp<"gather"> {
  let summary = "The slices of `data` along `axis` that the integers name; negative ones count from the end.";
  let description = [{
    Result shape: data[:axis] + indices + data[axis+1:]. Kernels clamp a number that is out of range, evaluation refuses it.
    Constant numbers in even steps become a slice.
  }];
  let arguments = (ins Tensor:$data, IntTensor:$indices, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tensor:$output);
  let hasCanonicalizeMethod = 1;
}
def Graph_GatherGradOp : Graph_Op<"gather_grad", "DenyFp16", [NoGradient, DeclareOpInterfaceMethods<ScatterOpInterface>]> {
  let summary = "Adds the rows of dy [n, width] into rows of a zeroed result [rows, width]; the row numbers are data.";
  let description = "Negative row numbers count from the end.";
  let arguments = (ins IntTensor:$indices, FloatTensor:$dy, SI64Attr:$rows);
  let results = (outs FloatTensor:$dx);
}
def Graph_GatherElementsOp : Graph_MoveOp<"gather_elements"> {
  let summary = "For each index the element of `data` there, its place along `axis` replaced by the integer.";
  let arguments = (ins Tensor:$data, IntTensor:$indices, DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs Tensor:$output);
}
def Graph_GatherElementsGradOp : Graph_LoopOp<"gather_elements_grad", "DenyFp16", [NoGradient]> {
  let summary = "Adds each element of dy where gather_elements took it from; `shape` is the result's.";
  let arguments = (ins IntTensor:$indices, FloatTensor:$dy, SI64Attr:$axis, DenseI64ArrayAttr:$shape);
  let results = (outs FloatTensor:$dx);
}
def Graph_GatherNDOp : Graph_MoveOp<"gather_nd"> {
  let summary = "The slices of `data` that the tuples in the last axis of `indices` name.";
  let description = "Result shape: indices[:-1] + data[batch_dims + tuple length:].";
  let arguments = (ins Tensor:$data, IntTensor:$indices, DefaultValuedAttr<SI64Attr, "0">:$batch_dims);
  let results = (outs Tensor:$output);
}
def Graph_TriluOp : Graph_MoveOp<"trilu"> {
  let summary = "The upper (or lower) triangle of the last two axes, from diagonal `k` on; 0 elsewhere.";
  let arguments = (ins Tensor:$input, DefaultValuedAttr<SI64Attr, "0">:$k, DefaultValuedAttr<SI64Attr, "1">:$upper);
  let results = (outs Tensor:$output);
}
def Graph_CumSumOp : Graph_LoopOp<"cum_sum", "DenyFp16"> {
  let summary = "Running sum along an axis; `exclusive` leaves the element itself out, `reverse` starts at the end.";
  let arguments = (ins Tensor:$x, SI64Attr:$axis, DefaultValuedAttr<SI64Attr, "0">:$exclusive,
                       DefaultValuedAttr<SI64Attr, "0">:$reverse);
  let results = (outs Tensor:$y);
}

def Graph_IotaOp : Graph_IndexOp<"iota"> {
  let summary = "Each element is its own place along `axis`; i64. Not an ONNX op.";
  let arguments = (ins DenseI64ArrayAttr:$shape, SI64Attr:$axis);
  let results = (outs IntTensor:$output);
}
def Graph_RangeOp : Graph_IndexOp<"range"> {
  let summary = "start, start + delta, … up to (not including) limit; the three are constants.";
  let arguments = (ins Tensor:$start, Tensor:$limit, Tensor:$delta, OptionalAttr<SI64Attr>:$stash_type);
  let results = (outs Tensor:$output);
}
def Graph_ShapeOp : Graph_IndexOp<"shape"> {
  let summary = "The extents of the axes `start` to (not including) `end`; folds to a constant.";
  let arguments = (ins Tensor:$data, DefaultValuedAttr<SI64Attr, "0">:$start, OptionalAttr<SI64Attr>:$end);
  let results = (outs IntTensor:$shape);
  let hasFolder = 1;
}
def Graph_SizeOp : Graph_IndexOp<"size"> {
  let summary = "The number of elements; folds to a constant.";
  let arguments = (ins Tensor:$data);
  let results = (outs IntTensor:$size);
  let hasFolder = 1;
}
def Graph_ConstantOfShapeOp : Graph_IndexOp<"constant_of_shape"> {
  let summary = "One value everywhere (default f32 0), of the shape that the constant `input` holds.";
  let arguments = (ins IntTensor:$input, OptionalAttr<ElementsAttr>:$value);
  let results = (outs Tensor:$output);
  let hasFolder = 1;
}
def Graph_OneHotOp : Graph_IndexOp<"one_hot"> {
  let summary = "values[1] at the place along the new `axis` that the index names, values[0] elsewhere; `depth` is a constant.";
  let description = "Indices outside [-depth, depth) give values[0] everywhere.";
  let arguments = (ins Tensor:$indices, Tensor:$depth, Tensor:$values, DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs Tensor:$output);
}
