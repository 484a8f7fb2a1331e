// SPDX-License-Identifier: Apache-2.0
// Convolutions by oneDNN. They always run channels-last with a weight layout of
// oneDNN's choice: measured, that is the one combination for which 2.6 has fast
// kernels in all directions; other layouts are reordered.
#include "runtime/libs/onednn/StagedCall.h"

namespace halftone::runtime::onednn {
namespace {

using dnnl::memory;

/// A dense tensor [first, channel, spatial...], channels last or not, as
/// oneDNN names its dimensions.
memory::desc tensorDesc(int64_t first, int64_t channel,
                        const std::vector<int64_t> &spatial, bool channelsLast,
                        int64_t group = 1) {
  Dims sizes{first / group, channel};
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  Dims strides(sizes.size());
  int64_t step = channelsLast ? channel : 1;
  for (size_t i = sizes.size(); i-- > 2; step *= sizes[i])
    strides[i] = step;
  strides[1] = channelsLast ? 1 : step;
  strides[0] = channelsLast ? step : step * channel;
  if (group > 1) {
    strides.insert(strides.begin(), strides[0] * sizes[0]);
    sizes.insert(sizes.begin(), group);
  }
  return {sizes, kFloat, strides};
}

/// A convolution primitive of any direction with the layouts it chose.
struct ConvolutionPrimitive {
  dnnl::primitive primitive;
  memory::desc x, w, y, scratchpad;
};

ConvolutionPrimitive makeConvolution(const dnnl::engine &engine,
                                     const ConvolutionGeometry &g,
                                     const memory::desc &x,
                                     const memory::desc &w,
                                     const memory::desc &y) {
  using namespace dnnl;
  Dims dilations = g.dilations;
  for (int64_t &dilation : dilations)
    --dilation;
  const auto kind = prop_kind::forward_training;
  const auto direct = algorithm::convolution_direct;
  const primitive_attr attributes = strictAttributes();
#if DNNL_VERSION_MAJOR >= 3
  convolution_forward::primitive_desc forward(engine, kind, direct, x, w, y,
                                              g.strides, dilations, g.padsBegin,
                                              g.padsEnd, attributes);
#else
  convolution_forward::primitive_desc forward(
      {kind, direct, x, w, y, g.strides, dilations, g.padsBegin, g.padsEnd},
      attributes, engine);
#endif
  if (g.direction == Convolution::Direction::Forward)
    return {convolution_forward(forward), forward.src_desc(),
            forward.weights_desc(), forward.dst_desc(),
            forward.scratchpad_desc()};
  if (g.direction == Convolution::Direction::DataGradient) {
#if DNNL_VERSION_MAJOR >= 3
    convolution_backward_data::primitive_desc data(
        engine, direct, x, w, y, g.strides, dilations, g.padsBegin, g.padsEnd,
        forward, attributes);
#else
    convolution_backward_data::primitive_desc data(
        {direct, x, w, y, g.strides, dilations, g.padsBegin, g.padsEnd},
        attributes, engine, forward);
#endif
    return {convolution_backward_data(data), data.diff_src_desc(),
            data.weights_desc(), data.diff_dst_desc(), data.scratchpad_desc()};
  }
#if DNNL_VERSION_MAJOR >= 3
  convolution_backward_weights::primitive_desc weights(
      engine, direct, x, w, y, g.strides, dilations, g.padsBegin, g.padsEnd,
      forward, attributes);
#else
  convolution_backward_weights::primitive_desc weights(
      {direct, x, w, y, g.strides, dilations, g.padsBegin, g.padsEnd},
      attributes, engine, forward);
#endif
  return {convolution_backward_weights(weights), weights.src_desc(),
          weights.diff_weights_desc(), weights.diff_dst_desc(),
          weights.scratchpad_desc()};
}

/// One tensor of a convolution: as the plan holds it and as oneDNN wants it.
struct Side {
  int argument, gradientArgument;
  memory::desc planned, wanted;
  ElementType type;
  void *address;

  int64_t count() const {
    return static_cast<int64_t>(planned.get_size() / sizeof(float));
  }
};

/// The weights in the layout that oneDNN likes best.
memory::desc anyLayout(const memory::desc &weights) {
#if DNNL_VERSION_MAJOR >= 3
  return {weights.get_dims(), kFloat, memory::format_tag::any};
#else
  return {weights.dims(), kFloat, memory::format_tag::any};
#endif
}

void buildConvolution(StagedCall &call, const ConvolutionGeometry &g,
                      const ConvolutionAddresses &addresses) {
  memory::desc x = tensorDesc(g.batch, g.channels, g.input, true);
  memory::desc y = tensorDesc(g.batch, g.filters, g.output, true);
  memory::desc w = tensorDesc(g.filters, g.channels / g.group, g.kernel,
                              g.channelsLast, g.group);
  ConvolutionPrimitive made =
      makeConvolution(call.engine, g, x, anyLayout(w), y);

  Side sides[] = {{DNNL_ARG_SRC, DNNL_ARG_DIFF_SRC,
                   tensorDesc(g.batch, g.channels, g.input, g.channelsLast),
                   made.x, g.typeX, addresses.x},
                  {DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_WEIGHTS, w, made.w, g.typeW,
                   addresses.w},
                  {DNNL_ARG_DST, DNNL_ARG_DIFF_DST,
                   tensorDesc(g.batch, g.filters, g.output, g.channelsLast),
                   made.y, g.typeY, addresses.y}};
  using Direction = Convolution::Direction;
  size_t result = g.direction == Direction::Forward        ? 2
                  : g.direction == Direction::DataGradient ? 0
                                                           : 1;
  Arguments arguments{{DNNL_ARG_SCRATCHPAD, call.inScratch(made.scratchpad)}};
  for (size_t i = 0; i < 3; ++i) {
    if (i == result)
      continue;
    const Side &side = sides[i];
    memory planned = call.at(
        side.planned, call.widened(side.type, side.address, side.count()));
    bool gradient = i == 2; // As an input, only dy is one.
    arguments.emplace(gradient && result != 2 ? side.gradientArgument
                                              : side.argument,
                      call.reordered(planned, side.wanted));
  }

  const Side &side = sides[result];
  Place place = call.unrounded(side.type, side.address, side.count());
  memory planned = call.at(side.planned, place);
  bool direct = side.wanted == side.planned;
  memory written = direct ? planned : call.inScratch(side.wanted);
  arguments.emplace(result == 2 ? side.argument : side.gradientArgument,
                    written);
  call.add(made.primitive, std::move(arguments));
  if (!direct)
    call.add(dnnl::reorder(written, planned),
             {{DNNL_ARG_FROM, written}, {DNNL_ARG_TO, planned}});
  call.rounded(side.type, place, side.address, side.count());
}

} // namespace

Result<std::unique_ptr<LibraryCall>>
prepareConvolution(const ConvolutionGeometry &geometry,
                   const ConvolutionAddresses &addresses) {
  return StagedCall::make(geometry.operations(), [&](StagedCall &call) {
    buildConvolution(call, geometry, addresses);
  });
}

} // namespace halftone::runtime::onednn
