// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/ChannelsLast.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace halftone::graph {

SmallVector<int64_t> channelsToEnd(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> moved(shape);
  std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
  return moved;
}
SmallVector<int64_t> channelsFromEnd(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> moved(shape);
  std::rotate(moved.begin() + 1, moved.end() - 1, moved.end());
  return moved;
}

SmallVector<int64_t> orderToEnd(int64_t rank) {
  return channelsToEnd(to_vector(seq<int64_t>(0, rank)));
}
SmallVector<int64_t> orderFromEnd(int64_t rank) {
  return channelsFromEnd(to_vector(seq<int64_t>(0, rank)));
}

} // namespace halftone::graph
