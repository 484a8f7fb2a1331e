// SPDX-License-Identifier: Apache-2.0
// One thread a vector of elements along the innermost dimension. Outputs of
// different shapes get blocks of their own.
#include "compiler/codegen/CudaBuilder.h"
#include "compiler/codegen/VectorAccess.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr int64_t kThreads = 256;

class CudaPointwise {
public:
  CudaPointwise(KernelFunction &kernel, const OutputGroup &group,
                Space groupSpace)
      : kernel(kernel), group(group), space(std::move(groupSpace)) {
    int64_t inner = space.extents.back(), rows = space.size() / inner;
    // A flat space may have a tail, whose elements get a thread each.
    length = vectorLength(kernel.fused, inner);
    while (rows == 1 ? length > inner : inner % length != 0)
      length /= 2;
    vectors = rows * (inner / length);
    tail = inner % length;
  }

  int64_t blocks() const { return llvm::divideCeil(vectors + tail, kThreads); }

  /// Emits the code of blocks [first, first + blocks()).
  LogicalResult emit(CudaBuilder &s, int64_t first) {
    Pull pull(kernel.fused, kernel.buffers, kernel.writable, forms);
    Value block = s.block(forms);
    if (first)
      block = s.sub(block, s.constantIndex(first));
    Value unit =
        s.add(s.mul(block, s.constantIndex(kThreads)), s.thread(forms));
    forms.setRange(unit, 0,
                   vectors - 1); // Where it is used as a vector's number.
    auto vector = [&] {
      SmallVector<int64_t> extents(space.extents);
      extents.back() /= length;
      SmallVector<Value> index = s.delinearize(unit, extents);
      Value start = s.mul(index.pop_back_val(), s.constantIndex(length));
      emitLanes(s, pull, index, start, length);
    };
    auto rest = [&] {
      s.when(s.compare(Compare::Less, unit, s.constantIndex(vectors + tail)),
             [&] {
               int64_t inner = space.extents.back();
               Value element =
                   s.add(unit, s.constantIndex(inner - tail - vectors));
               forms.setRange(element, inner - tail, inner - 1);
               emitLanes(s, pull, {}, element, 1);
             });
    };
    Value inside = s.compare(Compare::Less, unit, s.constantIndex(vectors));
    if (tail)
      s.when(inside, vector, rest);
    else
      s.when(inside, vector);
    return failure(pull.hasFailed());
  }

  IndexForms forms;

private:
  void emitLanes(CudaBuilder &s, Pull &pull, ValueRange outer, Value start,
                 int64_t lanes) {
    SmallVector<SmallVector<Value>> indices, scalars;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<Value> index(outer);
      index.push_back(lane ? s.add(start, s.constantIndex(lane)) : start);
      indices.push_back(space.expand(s.b, kernel.loc, index));
      scalars.push_back(pull.outputsAt(s.b, group.outputs, indices.back()));
    }
    for (int64_t lane = 0; lane < lanes; ++lane)
      pull.store(s.b, group.outputs, indices[lane], scalars[lane]);
  }

  KernelFunction &kernel;
  const OutputGroup &group;
  Space space;
  int64_t length, vectors, tail;
};

} // namespace

LogicalResult emitCudaPointwise(KernelFunction &kernel) {
  SmallVector<OutputGroup> groups = groupOutputs(kernel.fused);
  std::vector<std::unique_ptr<CudaPointwise>> emitters;
  int64_t blocks = 0;
  for (const OutputGroup &group : groups) {
    auto space = groupSpace(kernel, group, groups.size() == 1);
    if (failed(space))
      return failure();
    emitters.push_back(
        std::make_unique<CudaPointwise>(kernel, group, std::move(*space)));
    blocks += emitters.back()->blocks();
  }
  kernel.info.schedule = "pointwise";
  CudaBuilder s(kernel);
  s.launch(blocks, kThreads);
  int64_t first = 0;
  for (auto &emitter : emitters) {
    LogicalResult result = success();
    auto body = [&] { result = emitter->emit(s, first); };
    if (groups.size() == 1) {
      body();
    } else {
      Value block = s.block(emitter->forms);
      // Unsigned: blocks before the first are not less.
      s.when(s.compare(Compare::Less, s.sub(block, s.constantIndex(first)),
                       s.constantIndex(emitter->blocks())),
             body);
    }
    if (failed(result))
      return failure();
    mergeAccesses(kernel.function, emitter->forms);
    first += emitter->blocks();
  }
  return success();
}

} // namespace halftone::codegen
