// Windows that slide over spatial axes, and convolution.
include "compiler/graph/GraphBase.td"

class Graph_ConvolutionOp<string mnemonic>
    : Graph_Op<mnemonic, "Allow", [Differentiable, DeclareOpInterfaceMethods<LibraryOpInterface>,
                                 DeclareOpInterfaceMethods<ChannelsLastOpInterface>]>;

def Graph_ConvOp : Graph_ConvolutionOp<"conv"> {
  let summary = "Convolution (a correlation) over 1 to 3 spatial axes, in groups (ONNX Conv-11/22).";
  let description = [{
    `Y[n,m,o] = sum over c, k of X[n, c, o * strides + k * dilations - pads] W[m,c,k] (+ B[m])`. Canonicalization splits the bias off into
    an `add`, so that a library only ever sees the product. With `channels_last` (not ONNX's; the layout of a device chooses it) the channels
    are the last axis of all tensors: X [n, i..., c], W [m, k..., c], Y [n, o..., m]; so in the gradients.
  }];
  let arguments = (ins FloatTensor:$X, FloatTensor:$W, Optional<FloatTensor>:$B, DefaultValuedAttr<StrAttr, "\"NOTSET\"">:$auto_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations, DefaultValuedAttr<SI64Attr, "1">:$group,
                       OptionalAttr<DenseI64ArrayAttr>:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, DefaultValuedAttr<BoolAttr, "false">:$channels_last);
  let results = (outs FloatTensor:$Y);
  let hasCanonicalizer = 1;
}

// The gradients of a convolution name the shape of their result and have their padding resolved.
def Graph_ConvDataGradientOp : Graph_ConvolutionOp<"conv_data_gradient"> {
  let summary = "Gradient of a convolution's input, of shape `shape`: each element gathers the outputs that read it.";
  let arguments = (ins FloatTensor:$dY, FloatTensor:$W, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, SI64Attr:$group, DefaultValuedAttr<BoolAttr, "false">:$channels_last);
  let results = (outs FloatTensor:$dX);
}
def Graph_ConvWeightGradientOp : Graph_ConvolutionOp<"conv_weight_gradient"> {
  let summary = "Gradient of a convolution's weights, of shape `shape`: a sum over the batch and the output positions.";
  let arguments = (ins FloatTensor:$X, FloatTensor:$dY, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, SI64Attr:$group, DefaultValuedAttr<BoolAttr, "false">:$channels_last);
  let results = (outs FloatTensor:$dW);
}

def Graph_MaxPoolOp : Graph_Op<"max_pool", "Clear", [Differentiable, DeclareOpInterfaceMethods<ElementOpInterface, ["isIndexMap"]>]> {
  let summary = "Maximum of each window (ONNX MaxPool-12/22).";
  let description = [{
    Padding counts as minus infinity. `Indices` holds the row-major offset in X of the first maximum in scan order (with `storage_order` 1
    the last two axes swap), -1 where a window lies in padding altogether. NaN is the maximum where there is one.
  }];
  let arguments = (ins FloatTensor:$X, DefaultValuedAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedAttr<SI64Attr, "0">:$ceil_mode,
                       OptionalAttr<DenseI64ArrayAttr>:$dilations, DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads,
                       DefaultValuedAttr<SI64Attr, "0">:$storage_order, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs FloatTensor:$Y, IntTensor:$Indices);
}
def Graph_MaxPoolGradOp : Graph_Op<"max_pool_grad", "Infer", [NoGradient, DeclareOpInterfaceMethods<ElementOpInterface, ["isIndexMap"]>]> {
  let summary = "Gradient of max_pool's input, of shape `shape`: the sum of dY over the windows whose index names the element.";
  let arguments = (ins IntTensor:$Indices, FloatTensor:$dY, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$kernel_shape,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, SI64Attr:$storage_order);
  let results = (outs FloatTensor:$dX);
}

def Graph_AveragePoolOp
    : Graph_Op<"average_pool", "Infer", [Differentiable, DeclareOpInterfaceMethods<ElementOpInterface, ["isIndexMap"]>]> {
  let summary = "Mean of each window (ONNX AveragePool-11/19/22).";
  let description = [{
    Divides by the number of taps in the input, with `count_include_pad` in the input or its padding; taps behind the end padding
    (`ceil_mode`) never count.
  }];
  let arguments = (ins FloatTensor:$X, DefaultValuedAttr<StrAttr, "\"NOTSET\"">:$auto_pad, DefaultValuedAttr<SI64Attr, "0">:$ceil_mode,
                       DefaultValuedAttr<SI64Attr, "0">:$count_include_pad, OptionalAttr<DenseI64ArrayAttr>:$dilations,
                       DenseI64ArrayAttr:$kernel_shape, OptionalAttr<DenseI64ArrayAttr>:$pads, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let results = (outs FloatTensor:$Y);
}
def Graph_AveragePoolGradOp
    : Graph_Op<"average_pool_grad", "Infer", [NoGradient, DeclareOpInterfaceMethods<ElementOpInterface, ["isIndexMap"]>]> {
  let summary = "Gradient of average_pool's input, of shape `shape`: the sum of dY over the windows that contain the element, each divided by its count.";
  let arguments = (ins FloatTensor:$dY, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$kernel_shape, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, SI64Attr:$count_include_pad);
  let results = (outs FloatTensor:$dX);
}

class Graph_GlobalPoolOp<string mnemonic, string precision> : Graph_Op<mnemonic, precision, [Decomposable]> {
  let arguments = (ins FloatTensor:$X);
  let results = (outs FloatTensor:$Y);
}
def Graph_GlobalAveragePoolOp : Graph_GlobalPoolOp<"global_average_pool", "DenyFp16"> {
  let summary = "Mean over all spatial axes, which stay with extent 1 (ONNX GlobalAveragePool-1/22).";
}
def Graph_GlobalMaxPoolOp : Graph_GlobalPoolOp<"global_max_pool", "Clear"> {
  let summary = "Maximum over all spatial axes, which stay with extent 1 (ONNX GlobalMaxPool-1/22).";
}
