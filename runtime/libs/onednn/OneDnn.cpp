// SPDX-License-Identifier: Apache-2.0
// A call is a list of stages (widen, primitive, round) over tensors in the
// plan's arenas or in scratch memory. Convolutions always run channels-last
// with a weight layout of oneDNN's choice: measured, that is the one
// combination for which 2.6 has fast kernels in all directions; other layouts
// are reordered.
#include "runtime/libs/onednn/OneDnn.h"

#include "runtime/libs/onednn/WidenRound.h"

#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <unordered_map>
#include <variant>

namespace halftone::runtime::onednn {
namespace {

using dnnl::memory;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;
constexpr auto kFloat = memory::data_type::f32;

/// A place in the arenas, or (address null) an offset into scratch memory.
struct Place {
  void *address = nullptr;
  uint64_t scratch = 0;
};

struct WidenStage {
  ElementType type;
  const void *source;
  uint64_t scratch;
  int64_t count;
};
struct PrimitiveStage {
  dnnl::primitive primitive;
  Arguments arguments;
};
struct RoundStage {
  ElementType type;
  uint64_t scratch;
  void *destination;
  int64_t count;
};
using Stage = std::variant<WidenStage, PrimitiveStage, RoundStage>;

size_t lowBytes(int64_t elements) {
  return static_cast<size_t>(elements) * sizeof(uint16_t);
}

/// Below this many floating-point operations a second thread costs more than it
/// saves, far more where others use the machine too.
constexpr double kSerialWork = 2e6;

int threadsFor(double operations) {
  return operations < kSerialWork ? 1 : omp_get_max_threads();
}

/// Sets the number of threads that oneDNN and our loops find, for a while.
class ThreadScope {
public:
  explicit ThreadScope(int threads) : before(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadScope() { omp_set_num_threads(before); }
  ThreadScope(const ThreadScope &) = delete;
  ThreadScope &operator=(const ThreadScope &) = delete;

private:
  int before;
};

class Call final : public LibraryCall {
public:
  /// To be built and run with `threads` threads.
  explicit Call(int threads)
      : engine(dnnl::engine::kind::cpu, 0), threads(threads), stream(engine) {}

  uint64_t scratchBytes() const override { return scratchLength; }
  Status bind(void *scratch) override;
  Status run() override;

  /// Where `count` elements at `address` can be read as float32.
  Place widened(ElementType type, const void *address, int64_t count);
  /// Where to write float32 that `rounded` then takes to `address`.
  Place unrounded(ElementType type, void *address, int64_t count);
  void rounded(ElementType type, Place from, void *address, int64_t count);

  memory at(const memory::desc &desc, Place place);
  memory inScratch(const memory::desc &desc) {
    return at(desc, {nullptr, reserve(desc.get_size())});
  }
  /// `from` itself, or a copy of it in layout `desc`.
  memory reordered(const memory &from, const memory::desc &desc);
  void add(const dnnl::primitive &primitive, Arguments arguments) {
    stages.push_back(PrimitiveStage{primitive, std::move(arguments)});
  }

  dnnl::engine engine;

private:
  uint64_t reserve(uint64_t bytes) {
    uint64_t offset = scratchLength;
    scratchLength += (bytes + 255) / 256 * 256;
    return offset;
  }

  int threads;
  dnnl::stream stream;
  std::vector<Stage> stages;
  std::vector<std::pair<memory, uint64_t>> scratchMemories;
  uint64_t scratchLength = 0;
  std::byte *base = nullptr;
};

/// Runs `body`, which calls oneDNN; its exceptions end here.
template <typename Body> Status guarded(Body body) {
  try {
    body();
  } catch (const dnnl::error &error) {
    return failed(fmt::format("oneDNN {}: {} (status {})", version(),
                              error.what(), static_cast<int>(error.status)));
  }
  return {};
}

Status Call::bind(void *scratch) {
  base = static_cast<std::byte *>(scratch);
  return guarded([&] {
    for (auto &[object, offset] : scratchMemories)
      object.set_data_handle(base + offset);
  });
}

Status Call::run() {
  ThreadScope scope(threads);
  return guarded([&] {
    for (Stage &stage : stages)
      if (auto *wide = std::get_if<WidenStage>(&stage))
        widen(wide->type, wide->source,
              reinterpret_cast<float *>(base + wide->scratch), wide->count);
      else if (auto *narrow = std::get_if<RoundStage>(&stage))
        round(narrow->type,
              reinterpret_cast<const float *>(base + narrow->scratch),
              narrow->destination, narrow->count);
      else if (auto *work = std::get_if<PrimitiveStage>(&stage))
        work->primitive.execute(stream, work->arguments);
    stream.wait();
  });
}

Place Call::widened(ElementType type, const void *address, int64_t count) {
  // oneDNN's memory objects take inputs as non-const too; they are not written.
  if (type == ElementType::F32)
    return {const_cast<void *>(address), 0};
  Place place{nullptr, reserve(static_cast<uint64_t>(count) * sizeof(float))};
  stages.push_back(WidenStage{type, address, place.scratch, count});
  return place;
}

Place Call::unrounded(ElementType type, void *address, int64_t count) {
  if (type == ElementType::F32)
    return {address, 0};
  return {nullptr, reserve(static_cast<uint64_t>(count) * sizeof(float))};
}

void Call::rounded(ElementType type, Place from, void *address, int64_t count) {
  if (type != ElementType::F32)
    stages.push_back(RoundStage{type, from.scratch, address, count});
}

memory Call::at(const memory::desc &desc, Place place) {
  if (place.address)
    return memory(desc, engine, place.address);
  memory object(desc, engine, DNNL_MEMORY_NONE);
  scratchMemories.emplace_back(object, place.scratch);
  return object;
}

memory Call::reordered(const memory &from, const memory::desc &desc) {
  if (from.get_desc() == desc)
    return from;
  memory to = inScratch(desc);
  add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  return to;
}

dnnl::primitive_attr strictAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::matmul::primitive_desc describeMatMul(const dnnl::engine &engine,
                                            const memory::desc &a,
                                            const memory::desc &b,
                                            const memory::desc &bias,
                                            const memory::desc &c) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, c, strictAttributes()};
#else
  return {dnnl::matmul::desc(a, b, bias, c), strictAttributes(), engine};
#endif
}

/// One operand of a batched product: a stack of row-major matrices.
struct Stack {
  int64_t batch, rows, columns, stride;
  bool transposed; ///< The stored matrix is columns x rows.

  memory::desc desc() const {
    int64_t step = batch > 1 ? stride : rows * columns;
    return {{batch, rows, columns},
            kFloat,
            transposed ? Dims{step, 1, rows} : Dims{step, columns, 1}};
  }
  int64_t extent() const { return (batch - 1) * stride + rows * columns; }
  /// Whether oneDNN can take the whole stack at once.
  bool regular() const { return batch == 1 || stride >= rows * columns; }
};

Place advanced(Place place, int64_t elements) {
  if (place.address)
    return {static_cast<float *>(place.address) + elements, 0};
  return {nullptr, place.scratch + static_cast<uint64_t>(elements) * 4};
}

void buildMatMul(Call &call, const MatMulGeometry &g,
                 const MatMulAddresses &addresses) {
  const MatMul &p = g.shape;
  Stack a{p.strideA ? p.batch : 1, p.m, p.k, p.strideA, p.transposeA};
  Stack b{p.strideB ? p.batch : 1, p.k, p.n, p.strideB, p.transposeB};
  Stack c{p.batch, p.m, p.n, p.strideC, false};
  Place placeA = call.widened(g.typeA, addresses.a, a.extent());
  Place placeB = call.widened(g.typeB, addresses.b, b.extent());
  Place placeC = call.unrounded(g.typeC, addresses.c, c.extent());
  memory::desc biasDesc;
  if (p.bias)
    biasDesc = {{1, 1, p.n}, kFloat, Dims{p.n, p.n, 1}};
  memory bias =
      p.bias ? call.at(biasDesc, call.widened(g.typeBias, addresses.bias, p.n))
             : memory();

  // Overlapping stacks, and results that all are equal, go matrix by matrix.
  bool whole =
      a.regular() && b.regular() && std::max(a.batch, b.batch) == c.batch;
  int64_t pieces = whole ? 1 : c.batch;
  if (!whole)
    a.batch = b.batch = c.batch = 1;
  auto description =
      describeMatMul(call.engine, a.desc(), b.desc(), biasDesc, c.desc());
  dnnl::matmul primitive(description);
  memory pad = call.inScratch(description.scratchpad_desc());
  for (int64_t i = 0; i < pieces; ++i) {
    Arguments arguments{
        {DNNL_ARG_SRC, call.at(a.desc(), advanced(placeA, i * p.strideA))},
        {DNNL_ARG_WEIGHTS, call.at(b.desc(), advanced(placeB, i * p.strideB))},
        {DNNL_ARG_DST, call.at(c.desc(), advanced(placeC, i * p.strideC))},
        {DNNL_ARG_SCRATCHPAD, pad}};
    if (p.bias)
      arguments.emplace(DNNL_ARG_BIAS, bias);
    call.add(primitive, std::move(arguments));
  }

  // Gaps between results are not ours to write.
  bool gapless = p.batch == 1 || p.strideC == p.m * p.n;
  int64_t runs = gapless ? 1 : p.batch, count = p.m * p.n;
  for (int64_t i = 0; i < runs; ++i)
    call.rounded(g.typeC, advanced(placeC, i * p.strideC),
                 static_cast<std::byte *>(addresses.c) +
                     lowBytes(i * p.strideC),
                 gapless ? p.batch * count : count);
}

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

void buildConvolution(Call &call, const ConvolutionGeometry &g,
                      const ConvolutionAddresses &addresses) {
  memory::desc x = tensorDesc(g.batch, g.channels, g.input, true);
  memory::desc y = tensorDesc(g.batch, g.filters, g.output, true);
  memory::desc w = tensorDesc(g.filters, g.channels / g.group, g.kernel,
                              g.channelsLast, g.group);
  memory::desc freeW(
#if DNNL_VERSION_MAJOR >= 3
      w.get_dims(),
#else
      w.dims(),
#endif
      kFloat, memory::format_tag::any);
  ConvolutionPrimitive made = makeConvolution(call.engine, g, x, freeW, y);

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

template <typename Geometry, typename Addresses>
Result<std::unique_ptr<LibraryCall>>
prepare(void (*build)(Call &, const Geometry &, const Addresses &),
        const Geometry &geometry, const Addresses &addresses) {
  int threads = threadsFor(geometry.operations());
  ThreadScope scope(threads);
  std::unique_ptr<Call> call;
  HALFTONE_RETURN_IF_ERROR(guarded([&] {
    call = std::make_unique<Call>(threads);
    build(*call, geometry, addresses);
  }));
  return std::unique_ptr<LibraryCall>(std::move(call));
}

} // namespace

std::string version() {
  const dnnl_version_t *version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor,
                     version->patch);
}

Result<std::unique_ptr<LibraryCall>>
prepareMatMul(const MatMulGeometry &geometry,
              const MatMulAddresses &addresses) {
  if (geometry.empty())
    return prepare<MatMulGeometry, MatMulAddresses>(
        [](Call &, const MatMulGeometry &, const MatMulAddresses &) {},
        geometry, addresses);
  return prepare(buildMatMul, geometry, addresses);
}

Result<std::unique_ptr<LibraryCall>>
prepareConvolution(const ConvolutionGeometry &geometry,
                   const ConvolutionAddresses &addresses) {
  return prepare(buildConvolution, geometry, addresses);
}

} // namespace halftone::runtime::onednn
