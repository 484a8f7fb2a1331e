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
                           op.getGroup(), attributesOf(op));
}
ConvolutionShape shapeOfConv(ConvDataGradientOp op) {
  return *convolutionShape(std::nullopt, op.getShape(), shapeOf(op.getW()),
                           op.getGroup(), gradientAttributesOf(op));
}
ConvolutionShape shapeOfConv(ConvWeightGradientOp op) {
  return *convolutionShape(std::nullopt, shapeOf(op.getX()), op.getShape(),
                           op.getGroup(), gradientAttributesOf(op));
}

/// The three builders take the geometry from whichever op they serve.
Value dataGradient(ImplicitLocOpBuilder &b, Value dy, Value w,
                   ArrayRef<int64_t> shape, const ConvolutionShape &s) {
  return b.create<ConvDataGradientOp>(dy, w, shape, s.window.strides,
                                      s.window.pads(), s.window.dilations,
                                      s.group);
}
Value weightGradient(ImplicitLocOpBuilder &b, Value x, Value dy,
                     ArrayRef<int64_t> shape, const ConvolutionShape &s) {
  return b.create<ConvWeightGradientOp>(x, dy, shape, s.window.strides,
                                        s.window.pads(), s.window.dilations,
                                        s.group);
}
Value convolution(ImplicitLocOpBuilder &b, Value x, Value w,
                  const ConvolutionShape &s) {
  return b.create<ConvOp>(
      x, w, Value(), "NOTSET", b.getDenseI64ArrayAttr(s.window.dilations),
      s.group, DenseI64ArrayAttr(), b.getDenseI64ArrayAttr(s.window.pads()),
      b.getDenseI64ArrayAttr(s.window.strides));
}

SmallVector<int64_t> resultShape(const ConvolutionShape &s) {
  SmallVector<int64_t> shape{s.batch, s.filters};
  shape.append(s.window.output);
  return shape;
}

/// The result type of a gradient op, whose dY must have the shape of the
/// convolution's result.
LogicalResult inferGradient(std::optional<Location> location,
                            FailureOr<ConvolutionShape> s, Value dy,
                            ArrayRef<int64_t> shape,
                            SmallVectorImpl<Type> &types) {
  if (failed(s))
    return failure();
  if (SmallVector<int64_t> expected = resultShape(*s);
      shapeOf(dy) != ArrayRef<int64_t>(expected))
    return emitOptionalError(location, "dY is ", dy.getType(),
                             ", the convolution's result [", expected, "]");
  types.push_back(RankedTensorType::get(shape, elementTypeOf(dy)));
  return success();
}

void lowerConvolution(OpBuilder &b, Location loc, StringRef direction,
                      const ConvolutionShape &s, ValueRange inputs,
                      ValueRange outputs) {
  b.create<exec::ConvolutionOp>(loc, inputs, outputs, direction, s.group,
                                s.window.strides, s.window.pads(),
                                s.window.dilations);
}

/// conv(X, W, B) ==> add(conv(X, W), B as [M, 1, ...]).
struct SplitBias : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getB())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<int64_t> shape(rankOf(op.getX()) - 1, 1);
    shape[0] = shapeOf(op.getB())[0];
    Value product = b.create<ConvOp>(op.getX(), op.getW(), Value(),
                                     op.getAutoPadAttr(), op.getDilationsAttr(),
                                     op.getGroupAttr(), op.getKernelShapeAttr(),
                                     op.getPadsAttr(), op.getStridesAttr());
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
                            attributesOf(adaptor));
  if (failed(s))
    return failure();
  if (Value bias = adaptor.getB();
      bias && shapeOf(bias) != ArrayRef<int64_t>{s->filters})
    return emitOptionalError(location, "bias ", bias.getType(),
                             " does not hold one value for each of ",
                             s->filters, " filters");
  types.push_back(
      RankedTensorType::get(resultShape(*s), elementTypeOf(adaptor.getX())));
  return success();
}

LogicalResult ConvOp::evaluate(ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  HostTensor y = resultTensor(*this);
  ConvolutionShape s = shapeOfConv(*this);
  if (operands.size() > 2)
    for (int64_t i = 0, plane = numElements(s.window.output); i < y.size(); ++i)
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
    for (int64_t axis = 2; axis < rankOf(getX()); ++axis)
      others.push_back(axis);
    Value sum = b.create<ReduceSumOp>(grads[0], b.getDenseI64ArrayAttr(others));
    result.push_back(b.create<ReshapeOp>(sum, shapeOf(getB())));
  }
  return result;
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
  auto s =
      convolutionShape(location, adaptor.getShape(), shapeOf(adaptor.getW()),
                       adaptor.getGroup(), gradientAttributesOf(adaptor));
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

double ConvDataGradientOp::getFlops() { return shapeOfConv(*this).flops(); }
void ConvDataGradientOp::lower(OpBuilder &b, ValueRange inputs,
                               ValueRange outputs) {
  lowerConvolution(b, getLoc(), "data_gradient", shapeOfConv(*this), inputs,
                   outputs);
}

LogicalResult ConvWeightGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto s =
      convolutionShape(location, shapeOf(adaptor.getX()), adaptor.getShape(),
                       adaptor.getGroup(), gradientAttributesOf(adaptor));
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

double ConvWeightGradientOp::getFlops() { return shapeOfConv(*this).flops(); }
void ConvWeightGradientOp::lower(OpBuilder &b, ValueRange inputs,
                                 ValueRange outputs) {
  lowerConvolution(b, getLoc(), "weight_gradient", shapeOfConv(*this), inputs,
                   outputs);
}

} // namespace halftone::graph
