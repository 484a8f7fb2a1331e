// SPDX-License-Identifier: Apache-2.0
#include "passes/memory/PlanMemory.h"
#include <numeric>

using namespace mlir;
using namespace halftone::exec;

namespace halftone::passes {
namespace {

constexpr int64_t kAlignment = 256;
int64_t align(int64_t n) {
  return (n + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t bytesOf(Value v) {
  auto type = cast<MemRefType>(v.getType());
  return type.getNumElements() *
         (std::max(8u, type.getElementTypeBitWidth()) / 8);
}

/// The last step that touches a buffer or a view of it.
int64_t lastUse(Value v, const llvm::DenseMap<Operation *, int64_t> &position,
                int64_t end) {
  int64_t last = -1;
  for (Operation *user : v.getUsers()) {
    if (auto view = dyn_cast<ViewOp>(user))
      last = std::max(last, lastUse(view.getView(), position, end));
    else
      last = std::max(last,
                      isa<exec::OutputOp>(user) ? end : position.lookup(user));
  }
  return last;
}

int64_t firstUse(Value v, const llvm::DenseMap<Operation *, int64_t> &position,
                 int64_t end) {
  int64_t first = end;
  for (Operation *user : v.getUsers()) {
    if (auto view = dyn_cast<ViewOp>(user))
      first = std::min(first, firstUse(view.getView(), position, end));
    else if (!isa<exec::OutputOp>(user))
      first = std::min(first, position.lookup(user));
  }
  return first;
}

void setOffset(BufferOp buffer, int64_t offset) {
  buffer.setOffsetAttr(Builder(buffer.getContext()).getI64IntegerAttr(offset));
}

int64_t planActivations(exec::ProgramOp program) {
  llvm::DenseMap<Operation *, int64_t> position;
  int64_t end = 0;
  for (Operation &op : program.getBody().front())
    position[&op] = end++;
  SmallVector<BufferOp> buffers;
  SmallVector<Lifetime> lifetimes;
  for (BufferOp buffer : program.getBody().getOps<BufferOp>())
    if (buffer.getArena() == "activations") {
      buffers.push_back(buffer);
      lifetimes.push_back({bytesOf(buffer), firstUse(buffer, position, end),
                           lastUse(buffer, position, end)});
    }
  SmallVector<int64_t> offsets;
  int64_t total = packLifetimes(lifetimes, offsets);
  for (auto [buffer, offset] : llvm::zip_equal(buffers, offsets))
    setOffset(buffer, offset);
  return total;
}

/// The parts of an arena that live as long as the session, one place a name.
class PersistentLayout {
public:
  void reserve(BufferOp buffer) { // has an offset already
    int64_t &size = sizes[buffer.getArena().str()];
    size =
        std::max<int64_t>(size, align(*buffer.getOffset() + bytesOf(buffer)));
    if (!buffer.getName().empty())
      names[{buffer.getArena().str(), buffer.getName().str()}] =
          static_cast<int64_t>(*buffer.getOffset());
  }
  void place(BufferOp buffer) {
    int64_t &size = sizes[buffer.getArena().str()];
    int64_t fresh = size;
    auto assign = [&](auto &map, const auto &key) {
      return map.try_emplace(key, fresh);
    };
    auto [offset, isNew] = [&] {
      if (buffer.getName().empty() && buffer.getValueAttr()) {
        auto [it, inserted] =
            assign(values, std::pair<const void *, const void *>(
                               buffer.getValueAttr().getAsOpaquePointer(),
                               buffer.getType().getAsOpaquePointer()));
        return std::pair(it->second, inserted);
      }
      auto [it, inserted] = assign(
          names, std::pair(buffer.getArena().str(), buffer.getName().str()));
      return std::pair(it->second, inserted);
    }();
    setOffset(buffer, offset);
    if (isNew)
      size = align(fresh + bytesOf(buffer));
  }
  ArenaSizes sizes;

private:
  std::map<std::pair<std::string, std::string>, int64_t> names;
  std::map<std::pair<const void *, const void *>, int64_t> values;
};

} // namespace

int64_t packLifetimes(ArrayRef<Lifetime> lifetimes,
                      SmallVectorImpl<int64_t> &offsets) {
  offsets.assign(lifetimes.size(), 0);
  SmallVector<size_t> order(lifetimes.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  // Large ones first: small ones then fill the gaps.
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  int64_t total = 0;
  for (size_t i : order) {
    // `placed` is kept in order of offset, so that the first gap is found in
    // one sweep.
    int64_t offset = 0, size = align(lifetimes[i].bytes);
    for (size_t j : placed) {
      bool together = lifetimes[i].first <= lifetimes[j].last &&
                      lifetimes[j].first <= lifetimes[i].last;
      if (!together)
        continue;
      if (offset + size <= offsets[j])
        break;
      offset = std::max(offset, offsets[j] + align(lifetimes[j].bytes));
    }
    offsets[i] = offset;
    placed.insert(llvm::upper_bound(
                      placed, offset,
                      [&](int64_t at, size_t j) { return at < offsets[j]; }),
                  i);
    total = std::max(total, offset + size);
  }
  return total;
}

ArenaSizes planMemory(ModuleOp module) {
  PersistentLayout layout;
  SmallVector<BufferOp> open;
  for (auto program : module.getOps<exec::ProgramOp>())
    for (BufferOp buffer : program.getBody().getOps<BufferOp>()) {
      if (buffer.getArena() == "activations")
        continue;
      if (buffer.getOffset())
        layout.reserve(buffer);
      else
        open.push_back(buffer);
    }
  for (BufferOp buffer : open)
    layout.place(buffer);
  ArenaSizes sizes = layout.sizes;
  for (auto program : module.getOps<exec::ProgramOp>())
    sizes["activations." + program.getSymName().str()] =
        planActivations(program);
  return sizes;
}

} // namespace halftone::passes
