// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/StepReference.h"

using namespace mlir;

namespace halftone::reference {
namespace {

using Tensors = SmallVector<HostTensor>;

FailureOr<HostTensor> reshaped(Operation *op, const HostTensor &tensor,
                               Type to) {
  auto type = cast<RankedTensorType>(to);
  HostTensor result(type);
  if (tensor.size() != result.size() || tensor.isFloat() != result.isFloat())
    return op->emitOpError("passes ") << tensor.getType() << " for " << type;
  result.floats = tensor.floats;
  result.ints = tensor.ints;
  return result;
}

FailureOr<Tensors> runLaunch(exec::LaunchOp launch, ArrayRef<HostTensor> inputs,
                             Interpreter &interpreter) {
  auto fused = fusedOf(launch);
  if (failed(fused))
    return failure();
  // The kernel's arguments reach the region in the order of its operands.
  Tensors operands;
  for (Value v : fused->getInputs()) {
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument || argument.getArgNumber() >= inputs.size())
      return fused->emitOpError("reads more than the launch passes");
    auto operand =
        reshaped(launch, inputs[argument.getArgNumber()], v.getType());
    if (failed(operand))
      return failure();
    operands.push_back(std::move(*operand));
  }
  auto values = interpreter.run(*fused, operands);
  if (failed(values))
    return failure();
  if (values->size() != launch.getOutputs().size())
    return launch.emitOpError("writes ")
           << launch.getOutputs().size() << " outputs but the kernel yields "
           << values->size();
  Tensors results;
  for (auto [value, output] : llvm::zip_equal(*values, launch.getOutputs())) {
    auto result = reshaped(launch, value, tensorTypeOf(output));
    if (failed(result))
      return failure();
    results.push_back(std::move(*result));
  }
  return results;
}

/// Whether elements base + batch * stride + 0..count-1 lie in `t` for every
/// batch.
bool covers(const HostTensor &t, int64_t batch, int64_t stride, int64_t count) {
  return stride >= 0 && (batch - 1) * stride + count <= t.size();
}

FailureOr<Tensors> runMatMul(exec::MatMulOp op, ArrayRef<HostTensor> inputs) {
  int64_t batch = op.getBatch(), m = op.getM(), n = op.getN(), k = op.getK();
  if (inputs.size() < 2 || inputs.size() > 3 || op.getOutputs().size() != 1)
    return op.emitOpError("needs two or three inputs and one output");
  HostTensor out(tensorTypeOf(op.getOutputs()[0]));
  const HostTensor &a = inputs[0], &b = inputs[1];
  if (!covers(a, batch, op.getStrideA(), m * k) ||
      !covers(b, batch, op.getStrideB(), k * n) ||
      !covers(out, batch, op.getStrideC(), m * n) ||
      (inputs.size() == 3 && inputs[2].size() < n) || !a.isFloat() ||
      !b.isFloat() || !out.isFloat())
    return op.emitOpError("does not fit its buffers");
  for (int64_t batchIndex = 0; batchIndex < batch; ++batchIndex) {
    const double *x = a.floats.data() + batchIndex * op.getStrideA();
    const double *y = b.floats.data() + batchIndex * op.getStrideB();
    double *z = out.floats.data() + batchIndex * op.getStrideC();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = inputs.size() == 3 ? inputs[2].floats[j] : 0;
        for (int64_t p = 0; p < k; ++p)
          sum += (op.getTransposeA() ? x[p * m + i] : x[i * k + p]) *
                 (op.getTransposeB() ? y[j * k + p] : y[p * n + j]);
        z[i * n + j] = sum;
      }
  }
  return Tensors{std::move(out)};
}

/// Roles, extents and strides of a convolution in either layout.
struct ConvolutionView {
  /// Extents [batch or filter, channel, spatial...] and the strides of each in
  /// memory.
  struct Side {
    SmallVector<int64_t> extents, strides;
    Side(ArrayRef<int64_t> shape, bool channelsLast) {
      SmallVector<int64_t> memory = rowMajorStrides(shape);
      extents.assign(shape.begin(), shape.end());
      strides = memory;
      if (channelsLast) {
        std::rotate(extents.begin() + 1, extents.end() - 1, extents.end());
        std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
      }
    }
  };
  Side x, w, y;
};

/// Calls `visit(xOffset, wOffset, yOffset)` for every product of the
/// convolution.
template <typename Visit>
LogicalResult forEachProduct(exec::ConvolutionOp op, const ConvolutionView &v,
                             Visit visit) {
  size_t spatial = v.x.extents.size() - 2;
  int64_t group = op.getGroup();
  if (v.w.extents.size() != spatial + 2 || v.y.extents.size() != spatial + 2 ||
      op.getStrides().size() != spatial ||
      op.getDilations().size() != spatial ||
      op.getPads().size() != 2 * spatial || group < 1 ||
      v.x.extents[0] != v.y.extents[0] || v.w.extents[0] != v.y.extents[1] ||
      v.w.extents[1] * group != v.x.extents[1] || v.w.extents[0] % group != 0)
    return op.emitOpError("does not fit its buffers");
  int64_t filtersPerGroup = v.w.extents[0] / group;
  if (llvm::any_of(v.y.extents, [](int64_t d) { return d == 0; }) ||
      llvm::any_of(v.w.extents, [](int64_t d) { return d == 0; }))
    return success();
  SmallVector<int64_t> yIndex(spatial + 2, 0);
  do {
    int64_t filter = yIndex[1], yOffset = 0;
    for (auto [i, stride] : llvm::zip_equal(yIndex, v.y.strides))
      yOffset += i * stride;
    ArrayRef<int64_t> window = ArrayRef(v.w.extents).drop_front();
    SmallVector<int64_t> wIndex(spatial + 1, 0);
    do {
      int64_t channel = filter / filtersPerGroup * v.w.extents[1] + wIndex[0];
      int64_t xOffset = yIndex[0] * v.x.strides[0] + channel * v.x.strides[1];
      int64_t wOffset = filter * v.w.strides[0] + wIndex[0] * v.w.strides[1];
      bool inside = true;
      for (size_t d = 0; d < spatial; ++d) {
        int64_t at = yIndex[d + 2] * op.getStrides()[d] - op.getPads()[d] +
                     wIndex[d + 1] * op.getDilations()[d];
        inside &= at >= 0 && at < v.x.extents[d + 2];
        xOffset += at * v.x.strides[d + 2];
        wOffset += wIndex[d + 1] * v.w.strides[d + 2];
      }
      if (inside)
        visit(xOffset, wOffset, yOffset);
    } while (nextIndex(wIndex, window));
  } while (nextIndex(yIndex, v.y.extents));
  return success();
}

/// Shapes of x, w and y, whichever two of them are the inputs.
std::optional<ConvolutionView> viewOf(exec::ConvolutionOp op) {
  if (op.getInputs().size() != 2 || op.getOutputs().size() != 1)
    return std::nullopt;
  auto shape = [](Value v) { return cast<MemRefType>(v.getType()).getShape(); };
  ArrayRef<int64_t> first = shape(op.getInputs()[0]),
                    second = shape(op.getInputs()[1]),
                    out = shape(op.getOutputs()[0]);
  if (first.size() < 3 || second.size() != first.size() ||
      out.size() != first.size())
    return std::nullopt;
  bool last = op.getChannelsLast();
  using Side = ConvolutionView::Side;
  if (op.getDirection() == "forward")
    return ConvolutionView{Side(first, last), Side(second, last),
                           Side(out, last)};
  if (op.getDirection() == "data_gradient")
    return ConvolutionView{Side(out, last), Side(second, last),
                           Side(first, last)};
  if (op.getDirection() == "weight_gradient")
    return ConvolutionView{Side(first, last), Side(out, last),
                           Side(second, last)};
  return std::nullopt;
}

FailureOr<Tensors> runConvolution(exec::ConvolutionOp op,
                                  ArrayRef<HostTensor> inputs) {
  auto view = viewOf(op);
  if (!view || inputs.size() != 2 || !inputs[0].isFloat() ||
      !inputs[1].isFloat())
    return op.emitOpError("does not fit its buffers");
  HostTensor out(tensorTypeOf(op.getOutputs()[0]));
  const double *a = inputs[0].floats.data(), *b = inputs[1].floats.data();
  double *c = out.floats.data();
  LogicalResult done = failure();
  if (op.getDirection() == "forward")
    done = forEachProduct(op, *view, [&](int64_t x, int64_t w, int64_t y) {
      c[y] += a[x] * b[w];
    });
  else if (op.getDirection() == "data_gradient")
    done = forEachProduct(op, *view, [&](int64_t x, int64_t w, int64_t y) {
      c[x] += a[y] * b[w];
    });
  else
    done = forEachProduct(op, *view, [&](int64_t x, int64_t w, int64_t y) {
      c[w] += a[x] * b[y];
    });
  if (failed(done))
    return failure();
  return Tensors{std::move(out)};
}

FailureOr<Tensors> runCopy(exec::CopyOp op, ArrayRef<HostTensor> inputs) {
  if (inputs.size() != 1 || op.getOutputs().size() != 1)
    return op.emitOpError("needs one input and one output");
  auto result = reshaped(op, inputs[0], tensorTypeOf(op.getOutputs()[0]));
  if (failed(result))
    return failure();
  return Tensors{std::move(*result)};
}

} // namespace

RankedTensorType tensorTypeOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

FailureOr<graph::FusedOp> fusedOf(exec::LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<exec::KernelOp>(
      launch, launch.getKernelAttr());
  if (!kernel)
    return launch.emitOpError("names no kernel: ") << launch.getKernelAttr();
  auto regions = kernel.getBody().front().getOps<graph::FusedOp>();
  if (regions.empty())
    return kernel.emitOpError("holds no fused region");
  return *regions.begin();
}

FailureOr<Tensors> runStep(exec::StepOpInterface step,
                           ArrayRef<HostTensor> inputs,
                           Interpreter &interpreter) {
  Operation *op = step;
  if (inputs.size() != step.getInputs().size())
    return op->emitOpError("is given ")
           << inputs.size() << " tensors instead of "
           << step.getInputs().size();
  for (auto [input, tensor] : llvm::zip_equal(step.getInputs(), inputs))
    if (!graph::haveSameShapes({Type(tensorTypeOf(input))},
                               {Type(tensor.getType())}))
      return op->emitOpError("is given ")
             << tensor.getType() << " for " << input.getType();
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    return runLaunch(launch, inputs, interpreter);
  if (auto matmul = dyn_cast<exec::MatMulOp>(op))
    return runMatMul(matmul, inputs);
  if (auto convolution = dyn_cast<exec::ConvolutionOp>(op))
    return runConvolution(convolution, inputs);
  if (auto copy = dyn_cast<exec::CopyOp>(op))
    return runCopy(copy, inputs);
  return op->emitOpError("has no host reference");
}

FailureOr<Tensors> runStepOnMagnitudes(exec::StepOpInterface step,
                                       ArrayRef<HostTensor> inputs) {
  Tensors magnitudes(inputs);
  for (HostTensor &t : magnitudes)
    for (double &d : t.floats)
      d = std::abs(d);
  Interpreter interpreter;
  return runStep(step, magnitudes, interpreter);
}

int64_t termCount(exec::StepOpInterface step) {
  if (auto matmul = dyn_cast<exec::MatMulOp>(step.getOperation()))
    return matmul.getK() + static_cast<int64_t>(matmul.getInputs().size()) - 2;
  auto convolution = dyn_cast<exec::ConvolutionOp>(step.getOperation());
  if (!convolution)
    return 1;
  auto view = viewOf(convolution);
  if (!view)
    return 1;
  auto product = [](ArrayRef<int64_t> extents) {
    int64_t n = 1;
    for (int64_t d : extents)
      n *= d;
    return n;
  };
  const auto &y = view->y.extents;
  if (convolution.getDirection() == "weight_gradient")
    return y[0] * product(ArrayRef(y).drop_front(2));
  int64_t window = product(ArrayRef(view->w.extents).drop_front(2));
  if (convolution.getDirection() == "forward")
    return window * view->w.extents[1];
  return window * view->w.extents[0] /
         std::max<int64_t>(1, convolution.getGroup());
}

} // namespace halftone::reference
