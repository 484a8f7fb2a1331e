// SPDX-License-Identifier: Apache-2.0
// The order that repeated sweeps over the block would give, each taking out the
// ops that are ready: an op waits one sweep longer than a producer behind it.
// The sweeps are counted instead of made; a deep network needs thousands.
#include "passes/fuse/OrderKernels.h"

using namespace mlir;

namespace halftone::passes {

LogicalResult orderKernels(Block &block) {
  struct Entry {
    Operation *op;
    unsigned sweep = 0, pending = 0;
  };
  std::vector<Entry> entries;
  llvm::DenseMap<Operation *, unsigned> places;
  for (Operation &op : block) {
    places[&op] = static_cast<unsigned>(entries.size());
    entries.push_back({&op});
  }
  std::vector<unsigned> ready;
  for (unsigned place = 0; place < entries.size(); ++place) {
    for (Value operand : entries[place].op->getOperands())
      entries[place].pending += operand.getDefiningOp() != nullptr;
    if (!entries[place].pending)
      ready.push_back(place);
  }
  for (size_t i = 0; i < ready.size(); ++i)
    for (OpOperand &use : entries[ready[i]].op->getUses()) {
      unsigned user = places.lookup(use.getOwner());
      Entry &entry = entries[user];
      entry.sweep =
          std::max(entry.sweep, entries[ready[i]].sweep + (ready[i] > user));
      if (--entry.pending == 0)
        ready.push_back(user);
    }
  if (ready.size() < entries.size())
    return failure();
  llvm::stable_sort(entries, [](const Entry &a, const Entry &b) {
    return a.sweep < b.sweep;
  });
  for (const Entry &entry : entries)
    entry.op->moveBefore(&block, block.end());
  return success();
}

} // namespace halftone::passes
