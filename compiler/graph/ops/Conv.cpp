// SPDX-License-Identifier: Apache-2.0
// Convolution and its gradients with respect to data and weights. Each of the
// three is the gradient of the other two, because all are linear in both
// operands.
#include "compiler/exec/ExecOps.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/ops/Convolution.h"

using namespace mlir;

namespace halftone::graph {
namespace {

template <typename Conv> WindowAttributes attributesOf(Conv op) {
  return {op.getKernelShape().value_or(ArrayRef<int64_t>()),
          op.getStrides(),
          op.getDilations(),
          op.getPads(),
          op.getAutoPad(),
          false};
}
template <typename Gradient>
WindowAttributes gradientAttributesOf(Gradient op) {
  return {{}, op.getStrides(), op.getDilations(), op.getPads()};
}

ConvolutionShape shapeOfConv(ConvOp op) {
  return *convolutionShape(std::nullopt, shapeOf(op.getX()), shapeOf(op.getW()),
                           op.getGroup(), op.getChannelsLast(),
                           attributesOf(op));
}
ConvolutionShape shapeOfConv(ConvDataGradientOp op) {
  return *convolutionShape(std::nullopt, op.getShape(), shapeOf(op.getW()),
                           op.getGroup(), op.getChannelsLast(),
                           gradientAttributesOf(op));
}
ConvolutionShape shapeOfConv(ConvWeightGradientOp op) {
  return *convolutionShape(std::nullopt, shapeOf(op.getX()), op.getShape(),
                           op.getGroup(), op.getChannelsLast(),
                           gradientAttributesOf(op));
}

/// The three builders take the geometry from whichever op they serve.
Value dataGradient(ImplicitLocOpBuilder &b, Value dy, Value w,
                   ArrayRef<int64_t> shape, const ConvolutionShape &s) {
  return b.create<ConvDataGradientOp>(dy, w, shape, s.window.strides,
                                      s.window.pads(), s.window.dilations,
                                      s.group, s.channelsLast);
}
Value weightGradient(ImplicitLocOpBuilder &b, Value x, Value dy,
                     ArrayRef<int64_t> shape, const ConvolutionShape &s) {
  return b.create<ConvWeightGradientOp>(x, dy, shape, s.window.strides,
                                        s.window.pads(), s.window.dilations,
                                        s.group, s.channelsLast);
}
Value convolution(ImplicitLocOpBuilder &b, Value x, Value w,
                  const ConvolutionShape &s) {
  return b.create<ConvOp>(
      x, w, Value(), "NOTSET", b.getDenseI64ArrayAttr(s.window.dilations),
      s.group, DenseI64ArrayAttr(), b.getDenseI64ArrayAttr(s.window.pads()),
      b.getDenseI64ArrayAttr(s.window.strides), s.channelsLast);
}

/// The result type of a gradient op, whose dY must have the shape of the
/// convolution's result.
LogicalResult inferGradient(std::optional<Location> location,
                            FailureOr<ConvolutionShape> s, Value dy,
                            ArrayRef<int64_t> shape,
                            SmallVectorImpl<Type> &types) {
  if (failed(s))
    return failure();
  if (SmallVector<int64_t> expected = s->y();
      shapeOf(dy) != ArrayRef<int64_t>(expected))
    return emitOptionalError(location, "dY is ", dy.getType(),
                             ", the convolution's result [", expected, "]");
  types.push_back(RankedTensorType::get(shape, elementTypeOf(dy)));
  return success();
}

/// Whether each position is a product of its own: with the channels last, all
/// of them together are one product of matrices.
bool isProduct(const ConvolutionShape &s) {
  auto all = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [&](int64_t v) { return v == value; });
  };
  return s.channelsLast && s.group == 1 && all(s.window.kernel, 1) &&
         all(s.window.strides, 1) && all(s.window.pads(), 0);
}

/// With rows for positions: Y = X W^T, dX = dY W, dW = dY^T X.
void lowerProduct(OpBuilder &b, Location loc, StringRef direction,
                  const ConvolutionShape &s, ValueRange inputs,
                  ValueRange outputs) {
  int64_t positions = s.batch * numElements(s.window.output);
  auto product = [&](ValueRange operands, int64_t m, int64_t n, int64_t k,
                     bool transposeA, bool transposeB) {
    b.create<exec::MatMulOp>(loc, operands, outputs, /*batch=*/1, m, n, k,
                             transposeA, transposeB, /*strideA=*/0,
                             /*strideB=*/0, /*strideC=*/0);
  };
  if (direction == "forward")
    product(inputs, positions, s.filters, s.channels, false, true);
  else if (direction == "data_gradient")
    product(inputs, positions, s.channels, s.filters, false, false);
  else
    product({inputs[1], inputs[0]}, s.filters, s.channels, positions, true,
            false);
}

void lowerConvolution(OpBuilder &b, Location loc, StringRef direction,
                      const ConvolutionShape &s, ValueRange inputs,
                      ValueRange outputs) {
  if (isProduct(s))
    return lowerProduct(b, loc, direction, s, inputs, outputs);
  b.create<exec::ConvolutionOp>(loc, inputs, outputs, direction, s.group,
                                s.window.strides, s.window.pads(),
                                s.window.dilations, s.channelsLast);
}

/// conv(X, W, B) ==> add(conv(X, W), B as [M, 1, ...] or [M]).
struct SplitBias : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getB())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<int64_t> shape{shapeOf(op.getB())[0]};
    if (!op.getChannelsLast())
      shape.resize(rankOf(op.getX()) - 1, 1);
    Value product = b.create<ConvOp>(
        op.getX(), op.getW(), Value(), op.getAutoPadAttr(),
        op.getDilationsAttr(), op.getGroupAttr(), op.getKernelShapeAttr(),
        op.getPadsAttr(), op.getStridesAttr(), op.getChannelsLastAttr());
    rewriter.replaceOpWithNewOp<AddOp>(op, product,
                                       b.create<ReshapeOp>(op.getB(), shape));
    return success();
  }
};

} // namespace

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto s = convolutionShape(location, shapeOf(adaptor.getX()),
                            shapeOf(adaptor.getW()), adaptor.getGroup(),
                            adaptor.getChannelsLast(), attributesOf(adaptor));
  if (failed(s))
    return failure();
  if (Value bias = adaptor.getB();
      bias && shapeOf(bias) != ArrayRef<int64_t>{s->filters})
    return emitOptionalError(location, "bias ", bias.getType(),
                             " does not hold one value for each of ",
                             s->filters, " filters");
  types.push_back(RankedTensorType::get(s->y(), elementTypeOf(adaptor.getX())));
  return success();
}

LogicalResult ConvOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor y = resultTensor(*this);
  ConvolutionShape s = shapeOfConv(*this);
  if (operands.size() > 2)
    for (int64_t i = 0,
                 plane = s.channelsLast ? 1 : numElements(s.window.output);
         i < y.size(); ++i)
      y.floats[i] = operands[2].floats[i / plane % s.filters];
  const double *data = operands[0].floats.data(),
               *weights = operands[1].floats.data();
  forEachProduct(s, [&](int64_t x, int64_t w, int64_t i) {
    y.floats[i] += data[x] * weights[w];
  });
  results.push_back(std::move(y));
  return success();
}

SmallVector<Value> ConvOp::buildVjp(ImplicitLocOpBuilder &b, ValueRange grads) {
  ConvolutionShape s = shapeOfConv(*this);
  SmallVector<Value> result{
      dataGradient(b, grads[0], getW(), shapeOf(getX()), s),
      weightGradient(b, getX(), grads[0], shapeOf(getW()), s)};
  if (getB()) {
    SmallVector<int64_t> others{0};
    for (int64_t axis = 1; axis < rankOf(getX()); ++axis)
      if (axis != (s.channelsLast ? rankOf(getX()) - 1 : 1))
        others.push_back(axis);
    Value sum = b.create<ReduceSumOp>(grads[0], b.getDenseI64ArrayAttr(others));
    result.push_back(b.create<ReshapeOp>(sum, shapeOf(getB())));
  }
  return result;
}

Value ConvOp::buildChannelsLast(ImplicitLocOpBuilder &b, ValueRange operands) {
  ConvolutionShape s = shapeOfConv(*this);
  s.channelsLast = true;
  Value y = convolution(b, operands[0], operands[1], s);
  return getB() ? b.create<AddOp>(y, operands[2]) : y;
}

double ConvOp::getFlops() { return shapeOfConv(*this).flops(); }
void ConvOp::lower(OpBuilder &b, ValueRange inputs, ValueRange outputs) {
  lowerConvolution(b, getLoc(), "forward", shapeOfConv(*this), inputs, outputs);
}
void ConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<SplitBias>(context);
}

LogicalResult ConvDataGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto s = convolutionShape(
      location, adaptor.getShape(), shapeOf(adaptor.getW()), adaptor.getGroup(),
      adaptor.getChannelsLast(), gradientAttributesOf(adaptor));
  return inferGradient(location, std::move(s), adaptor.getDY(),
                       adaptor.getShape(), types);
}

LogicalResult
ConvDataGradientOp::evaluate(ArrayRef<HostTensor> operands,
                             SmallVectorImpl<HostTensor> &results) {
  HostTensor dx = resultTensor(*this);
  const double *dy = operands[0].floats.data(),
               *weights = operands[1].floats.data();
  forEachProduct(shapeOfConv(*this), [&](int64_t x, int64_t w, int64_t y) {
    dx.floats[x] += dy[y] * weights[w];
  });
  results.push_back(std::move(dx));
  return success();
}

SmallVector<Value> ConvDataGradientOp::buildVjp(ImplicitLocOpBuilder &b,
                                                ValueRange grads) {
  ConvolutionShape s = shapeOfConv(*this);
  return {convolution(b, grads[0], getW(), s),
          weightGradient(b, grads[0], getDY(), shapeOf(getW()), s)};
}

Value ConvDataGradientOp::buildChannelsLast(ImplicitLocOpBuilder &b,
                                            ValueRange operands) {
  ConvolutionShape s = shapeOfConv(*this);
  s.channelsLast = true;
  return dataGradient(b, operands[0], operands[1], s.x(), s);
}

double ConvDataGradientOp::getFlops() { return shapeOfConv(*this).flops(); }
void ConvDataGradientOp::lower(OpBuilder &b, ValueRange inputs,
                               ValueRange outputs) {
  lowerConvolution(b, getLoc(), "data_gradient", shapeOfConv(*this), inputs,
                   outputs);
}

LogicalResult ConvWeightGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto s = convolutionShape(
      location, shapeOf(adaptor.getX()), adaptor.getShape(), adaptor.getGroup(),
      adaptor.getChannelsLast(), gradientAttributesOf(adaptor));
  return inferGradient(location, std::move(s), adaptor.getDY(),
                       adaptor.getShape(), types);
}

LogicalResult
ConvWeightGradientOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor dw = resultTensor(*this);
  const double *data = operands[0].floats.data(),
               *dy = operands[1].floats.data();
  forEachProduct(shapeOfConv(*this), [&](int64_t x, int64_t w, int64_t y) {
    dw.floats[w] += data[x] * dy[y];
  });
  results.push_back(std::move(dw));
  return success();
}

SmallVector<Value> ConvWeightGradientOp::buildVjp(ImplicitLocOpBuilder &b,
                                                  ValueRange grads) {
  ConvolutionShape s = shapeOfConv(*this);
  return {dataGradient(b, getDY(), grads[0], shapeOf(getX()), s),
          convolution(b, getX(), grads[0], s)};
}

Value ConvWeightGradientOp::buildChannelsLast(ImplicitLocOpBuilder &b,
                                              ValueRange operands) {
  ConvolutionShape s = shapeOfConv(*this);
  s.channelsLast = true;
  return weightGradient(b, operands[0], operands[1], s.w(), s);
}

double ConvWeightGradientOp::getFlops() { return shapeOfConv(*this).flops(); }
void ConvWeightGradientOp::lower(OpBuilder &b, ValueRange inputs,
                                 ValueRange outputs) {
  lowerConvolution(b, getLoc(), "weight_gradient", shapeOfConv(*this), inputs,
                   outputs);
}

} // namespace halftone::graph
