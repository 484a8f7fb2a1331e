// SPDX-License-Identifier: Apache-2.0
// Derives sizes from buffers.
#include "runtime/libs/StepGeometry.h"

#include <fmt/format.h>

namespace halftone::runtime {
namespace {

/// Equal right-hand sides make a batch of products one taller product.
void foldBatch(MatMul &p) {
  bool contiguous = p.strideA == p.m * p.k && p.strideC == p.m * p.n;
  if (p.batch > 1 && p.strideB == 0 && !p.transposeA && contiguous) {
    p.m *= p.batch;
    p.batch = 1;
  }
  if (p.batch == 1)
    p.strideA = p.strideB = p.strideC = 0;
}

/// The sizes of a tensor in memory order, told apart by layout: the first, the
/// channel and the spatial ones.
struct Sizes {
  int64_t first, channel;
  std::vector<int64_t> spatial;
};

Sizes sizesOf(const Shape &shape, bool channelsLast) {
  auto begin = shape.begin() + (channelsLast ? 1 : 2);
  return {shape.front(),
          channelsLast ? shape.back() : shape[1],
          {begin, begin + static_cast<ptrdiff_t>(shape.size() - 2)}};
}

double product(const std::vector<int64_t> &sizes) {
  double result = 1;
  for (int64_t size : sizes)
    result *= static_cast<double>(size);
  return result;
}

} // namespace

double MatMulGeometry::operations() const {
  return 2 * product({shape.batch, shape.m, shape.n, shape.k});
}

double ConvolutionGeometry::operations() const {
  return 2 * product({batch, filters, channels / group}) * product(output) *
         product(kernel);
}

Result<MatMulGeometry> matmulGeometry(const Plan &plan, const Step &step) {
  const MatMul &shape = std::get<MatMul>(step.kind);
  if (shape.k == 0)
    return unsupported("a product over no elements");
  MatMulGeometry g{.shape = shape,
                   .a = step.inputs[0],
                   .b = step.inputs[1],
                   .c = step.outputs[0],
                   .bias = std::nullopt,
                   .typeA = plan.buffers[step.inputs[0]].type,
                   .typeB = plan.buffers[step.inputs[1]].type,
                   .typeC = plan.buffers[step.outputs[0]].type,
                   .typeBias = ElementType::F32};
  if (shape.bias) {
    g.bias = step.inputs[2];
    g.typeBias = plan.buffers[*g.bias].type;
  }
  if (!g.empty())
    foldBatch(g.shape);
  return g;
}

Result<ConvolutionGeometry> convolutionGeometry(const Plan &plan,
                                                const Step &step) {
  const Convolution &c = std::get<Convolution>(step.kind);
  uint32_t x = step.inputs[0], w = step.inputs[1], y = step.outputs[0];
  if (c.direction == Convolution::Direction::DataGradient)
    std::swap(x, y);
  if (c.direction == Convolution::Direction::WeightGradient)
    std::swap(w, y);
  const Buffer &bx = plan.buffers[x], &bw = plan.buffers[w],
               &by = plan.buffers[y];
  size_t rank = bx.shape.size();
  if (bx.elements == 0 || bw.elements == 0 || by.elements == 0)
    return unsupported("a convolution of empty tensors");
  Sizes sx = sizesOf(bx.shape, c.channelsLast);
  Sizes sw = sizesOf(bw.shape, c.channelsLast);
  auto middle = c.pads.begin() + static_cast<ptrdiff_t>(rank - 2);
  ConvolutionGeometry g{.direction = c.direction,
                        .batch = sx.first,
                        .channels = sx.channel,
                        .filters = sw.first,
                        .group = c.group,
                        .input = sx.spatial,
                        .kernel = sw.spatial,
                        .output = sizesOf(by.shape, c.channelsLast).spatial,
                        .strides = c.strides,
                        .padsBegin = {c.pads.begin(), middle},
                        .padsEnd = {middle, c.pads.end()},
                        .dilations = c.dilations,
                        .channelsLast = c.channelsLast,
                        .tf32 = c.tf32,
                        .x = x,
                        .w = w,
                        .y = y,
                        .typeX = bx.type,
                        .typeW = bw.type,
                        .typeY = by.type};
  return g;
}

Result<uint64_t> copyBytes(const Plan &plan, const Step &step) {
  const Buffer &source = plan.buffers[step.inputs[0]];
  const Buffer &destination = plan.buffers[step.outputs[0]];
  bool apart = source.arena != destination.arena ||
               source.offset == destination.offset ||
               source.offset + source.bytes <= destination.offset ||
               destination.offset + destination.bytes <= source.offset;
  if (!apart)
    return invalidInput(
        fmt::format("copies buffer '{}' onto a part of itself", source.name));
  return source.bytes;
}

} // namespace halftone::runtime
