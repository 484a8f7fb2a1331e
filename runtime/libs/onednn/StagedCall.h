// SPDX-License-Identifier: Apache-2.0
// A step as a list of stages (widen, primitive, round) over tensors in the
// plan's arenas or in scratch memory: how this folder's calls run.
#pragma once

#include "runtime/libs/onednn/OneDnn.h"

#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <variant>

namespace halftone::runtime::onednn {

using Dims = dnnl::memory::dims;
using Arguments = std::unordered_map<int, dnnl::memory>;
constexpr auto kFloat = dnnl::memory::data_type::f32;

/// A place in the arenas, or (address null) an offset into scratch memory.
struct Place {
  void *address = nullptr;
  uint64_t scratch = 0;
};

class StagedCall final : public LibraryCall {
public:
  /// A call whose stages `build` adds, to be run with as many threads as suit
  /// `operations`. oneDNN's exceptions become failures here, in bind() and in
  /// run(); `build` may let them pass.
  static Result<std::unique_ptr<LibraryCall>>
  make(double operations, const std::function<void(StagedCall &)> &build);

  uint64_t scratchBytes() const override { return scratchLength; }
  Status bind(void *scratch) override;
  Status run() override;

  /// Where `count` elements at `address` can be read as float32.
  Place widened(ElementType type, const void *address, int64_t count);
  /// Where to write float32 that `rounded` then takes to `address`.
  Place unrounded(ElementType type, void *address, int64_t count);
  void rounded(ElementType type, Place from, void *address, int64_t count);

  dnnl::memory at(const dnnl::memory::desc &desc, Place place);
  dnnl::memory inScratch(const dnnl::memory::desc &desc) {
    return at(desc, {nullptr, reserve(desc.get_size())});
  }
  /// `from` itself, or a copy of it in layout `desc`.
  dnnl::memory reordered(const dnnl::memory &from,
                         const dnnl::memory::desc &desc);
  void add(const dnnl::primitive &primitive, Arguments arguments) {
    stages.push_back(PrimitiveStage{primitive, std::move(arguments)});
  }

  const dnnl::engine engine;

private:
  explicit StagedCall(int threads)
      : engine(dnnl::engine::kind::cpu, 0), threads(threads), stream(engine) {}

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

  uint64_t reserve(uint64_t bytes) {
    uint64_t offset = scratchLength;
    scratchLength += (bytes + 255) / 256 * 256;
    return offset;
  }

  int threads;
  dnnl::stream stream;
  std::vector<Stage> stages;
  std::vector<std::pair<dnnl::memory, uint64_t>> scratchMemories;
  uint64_t scratchLength = 0;
  std::byte *base = nullptr;
};

/// Sums in float32 as they are written; scratch memory comes from the call.
dnnl::primitive_attr strictAttributes();

} // namespace halftone::runtime::onednn
