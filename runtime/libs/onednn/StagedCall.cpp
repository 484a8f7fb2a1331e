// SPDX-License-Identifier: Apache-2.0
// Building and running of stages, and where oneDNN's exceptions end.
#include "runtime/libs/onednn/StagedCall.h"

#include "runtime/libs/onednn/WidenRound.h"

#include <fmt/format.h>
#include <omp.h>

namespace halftone::runtime::onednn {
namespace {

using dnnl::memory;

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

} // namespace

Result<std::unique_ptr<LibraryCall>>
StagedCall::make(double operations,
                 const std::function<void(StagedCall &)> &build) {
  int threads = threadsFor(operations);
  ThreadScope scope(threads);
  std::unique_ptr<StagedCall> call;
  HALFTONE_RETURN_IF_ERROR(guarded([&] {
    call.reset(new StagedCall(threads));
    build(*call);
  }));
  return std::unique_ptr<LibraryCall>(std::move(call));
}

Status StagedCall::bind(void *scratch) {
  base = static_cast<std::byte *>(scratch);
  return guarded([&] {
    for (auto &[object, offset] : scratchMemories)
      object.set_data_handle(base + offset);
  });
}

Status StagedCall::run() {
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

Place StagedCall::widened(ElementType type, const void *address,
                          int64_t count) {
  // oneDNN's memory objects take inputs as non-const too; they are not written.
  if (type == ElementType::F32)
    return {const_cast<void *>(address), 0};
  Place place{nullptr, reserve(static_cast<uint64_t>(count) * sizeof(float))};
  stages.push_back(WidenStage{type, address, place.scratch, count});
  return place;
}

Place StagedCall::unrounded(ElementType type, void *address, int64_t count) {
  if (type == ElementType::F32)
    return {address, 0};
  return {nullptr, reserve(static_cast<uint64_t>(count) * sizeof(float))};
}

void StagedCall::rounded(ElementType type, Place from, void *address,
                         int64_t count) {
  if (type != ElementType::F32)
    stages.push_back(RoundStage{type, from.scratch, address, count});
}

memory StagedCall::at(const memory::desc &desc, Place place) {
  if (place.address)
    return memory(desc, engine, place.address);
  memory object(desc, engine, DNNL_MEMORY_NONE);
  scratchMemories.emplace_back(object, place.scratch);
  return object;
}

memory StagedCall::reordered(const memory &from, const memory::desc &desc) {
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

std::string version() {
  const dnnl_version_t *version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor,
                     version->patch);
}

} // namespace halftone::runtime::onednn
