// SPDX-License-Identifier: Apache-2.0
// Sizes and strides of the three tensors on each route. cuDNN has no
// one-dimensional convolutions: a dimension of size one goes before.
#include "runtime/libs/cudnn/ConvolutionRoute.h"

#include <algorithm>
#include <functional>

namespace halftone::runtime::cudnn {
namespace {

constexpr int64_t kWorkspaceAlignment = 256;

using Sizes = std::vector<int64_t>;

Sizes atLeastTwo(Sizes values, int64_t filler) {
  if (values.size() == 1)
    values.insert(values.begin(), filler);
  return values;
}

/// Strides of a dense tensor whose sizes are given channels first.
Sizes denseStrides(const Sizes &sizes, bool channelsLast) {
  Sizes strides(sizes.size());
  int64_t stride = channelsLast ? sizes[1] : 1;
  if (channelsLast)
    strides[1] = 1;
  for (size_t i = sizes.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  if (!channelsLast) {
    strides[1] = stride;
    stride *= sizes[1];
  }
  strides[0] = stride;
  return strides;
}

Sizes sizesOf(const ConvolutionGeometry &g, Role role, bool padded) {
  Sizes spatial = role == X ? g.input : role == W ? g.kernel : g.output;
  if (role == X && padded)
    for (size_t i = 0; i < spatial.size(); ++i)
      spatial[i] += g.padsBegin[i] + g.padsEnd[i];
  Sizes sizes = role == X   ? Sizes{g.batch, g.channels}
                : role == W ? Sizes{g.filters, g.channels / g.group}
                            : Sizes{g.batch, g.filters};
  Sizes tail = atLeastTwo(std::move(spatial), 1);
  sizes.insert(sizes.end(), tail.begin(), tail.end());
  return sizes;
}

ElementType typeOf(const ConvolutionGeometry &g, Role role) {
  return role == X ? g.typeX : role == W ? g.typeW : g.typeY;
}

Tensor tensorOf(const ConvolutionGeometry &g, const Route &route, Role role) {
  Tensor tensor;
  tensor.type = route.wide ? ElementType::F32 : typeOf(g, role);
  tensor.sizes = sizesOf(g, role, route.padded);
  tensor.strides =
      denseStrides(tensor.sizes, g.channelsLast && !route.channelsFirst);
  tensor.alignment = kWorkspaceAlignment;
  return tensor;
}

cuda::TensorCopy::Side sideOf(const Tensor &tensor) {
  cuda::TensorCopy::Side side{.type = tensor.type};
  // Batch and channel first, spatial dimensions last.
  size_t rank = tensor.sizes.size();
  for (size_t i = 0; i < rank; ++i) {
    size_t at = i < 2 ? i : i + 5 - rank;
    side.sizes[at] = static_cast<int32_t>(tensor.sizes[i]);
    side.strides[at] = static_cast<int32_t>(tensor.strides[i]);
  }
  return side;
}

constexpr Route kAsIs{false, false, false};

/// Elements of a result that do not fill a GPU where each has a sum of its own.
constexpr int64_t kFewResults = 65536;

int64_t resultCount(const ConvolutionGeometry &g) {
  return *elementCount(sizesOf(g, resultOf(g.direction), false));
}

} // namespace

std::vector<Route> routesFor(const ConvolutionGeometry &g) {
  // Pads that differ between begin and end go around x, always: an engine of
  // cuDNN 9.19 takes them (the weight gradient of grouped three-dimensional
  // convolutions in low types) and gives wrong results.
  bool uneven = g.padsBegin != g.padsEnd;
  std::array<ElementType, 3> types{g.typeX, g.typeW, g.typeY};
  bool low = std::ranges::count(types, ElementType::F32) < 3;
  bool mixed = std::ranges::adjacent_find(types, std::ranges::not_equal_to{}) !=
               types.end();
  const Route asIs{uneven, false, false}, channelsFirst{uneven, false, true},
      wide{uneven, true, false}, wideChannelsFirst{uneven, true, true};
  std::vector<Route> routes;
  if (mixed && !g.channelsLast)
    // Not as it is: the engine that cuDNN 9.19 offers for a float32 result of
    // low operands is wrong here, for windows as large as x.
    routes = {wide};
  else if (mixed)
    // That engine does not divide the sum behind a result: where results are
    // few, float32 copies and another engine take less than half the time.
    routes = resultCount(g) < kFewResults
                 ? std::vector{wideChannelsFirst, wide, asIs}
                 : std::vector{asIs, wideChannelsFirst, wide};
  else if (g.channelsLast)
    routes = low ? std::vector{asIs, channelsFirst, wide, wideChannelsFirst}
                 : std::vector{asIs, channelsFirst};
  else
    routes = low ? std::vector{asIs, wide} : std::vector{asIs};
  // Operands at odd addresses.
  routes.push_back({uneven, low, g.channelsLast, true});
  return routes;
}

Problem problemOf(const ConvolutionGeometry &g, const Route &route,
                  const std::array<int64_t, 3> &alignment) {
  Problem problem;
  problem.direction = g.direction;
  for (Role role : {X, W, Y}) {
    problem.tensors[role] = tensorOf(g, route, role);
    if (!detourOf(g, route, role).needed)
      problem.tensors[role].alignment = alignment[role];
  }
  problem.strides = atLeastTwo(g.strides, 1);
  problem.padsBegin = atLeastTwo(g.padsBegin, 0);
  problem.padsEnd = atLeastTwo(g.padsEnd, 0);
  if (route.padded) {
    std::ranges::fill(problem.padsBegin, 0);
    std::ranges::fill(problem.padsEnd, 0);
  }
  problem.dilations = atLeastTwo(g.dilations, 1);
  problem.tf32 = g.tf32;
  problem.fitsTf32 = route.wide;
  for (Role role : {X, W, Y})
    if (role != problem.result() && typeOf(g, role) == ElementType::F32)
      problem.fitsTf32 = false;
  return problem;
}

Detour detourOf(const ConvolutionGeometry &g, const Route &route, Role role) {
  Tensor plan = tensorOf(g, kAsIs, role), there = tensorOf(g, route, role);
  Detour detour{.needed = route.moved || plan.type != there.type ||
                          plan.sizes != there.sizes ||
                          plan.strides != there.strides,
                .in = {sideOf(plan), sideOf(there), {}},
                .out = {sideOf(there), sideOf(plan), {}},
                .bytes = *elementCount(there.sizes) * elementSize(there.type)};
  if (role == X && route.padded)
    for (size_t i = 0; i < g.padsBegin.size(); ++i) {
      size_t at = 5 - g.padsBegin.size() + i;
      detour.out.offset[at] = static_cast<int32_t>(g.padsBegin[i]);
      detour.in.offset[at] = -detour.out.offset[at];
    }
  return detour;
}

} // namespace halftone::runtime::cudnn
