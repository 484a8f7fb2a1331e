// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse/OrderKernels.h"
#include "BuiltProgram.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include <gtest/gtest.h>
#include <random>

using namespace halftone;
using halftone::test::BuiltProgram;
using mlir::Value;

namespace {

/// Random ops in a random order, most of them out of place.
void buildShuffled(BuiltProgram &p, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Value> values{p.input("x"), p.input("w")};
  auto any = [&] { return values[random() % values.size()]; };
  for (int i = 0; i < 60; ++i)
    values.push_back(p.op("add", {any(), any()}));
  for (size_t i = values.size() - 1; i > 0; --i)
    values[i].getDefiningOp()->moveBefore(values[random() % i].getDefiningOp());
}

llvm::SmallVector<size_t> placesOf(BuiltProgram &p,
                                   llvm::ArrayRef<mlir::Operation *> ops) {
  llvm::DenseMap<mlir::Operation *, size_t> places;
  for (mlir::Operation &op : p.block())
    places.try_emplace(&op, places.size());
  return llvm::map_to_vector(ops,
                             [&](mlir::Operation *op) { return places[op]; });
}

// The sweeps that are only counted here, made.
TEST(OrderKernels, IsTheOrderOfRepeatedSweeps) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    BuiltProgram counted, swept;
    buildShuffled(counted, seed);
    buildShuffled(swept, seed);
    auto pointers = [](BuiltProgram &p) {
      return llvm::to_vector(llvm::make_pointer_range(p.block()));
    };
    auto countedOps = pointers(counted), sweptOps = pointers(swept);
    ASSERT_TRUE(succeeded(passes::orderKernels(counted.block())));
    ASSERT_TRUE(mlir::sortTopologically(&swept.block()));
    EXPECT_EQ(placesOf(counted, countedOps), placesOf(swept, sweptOps));
  }
}

TEST(OrderKernels, ACycleIsRefused) {
  BuiltProgram p;
  Value a = p.op("tanh", {p.input("x")}), b = p.op("relu", {a});
  a.getDefiningOp()->setOperand(0, b);
  EXPECT_TRUE(failed(passes::orderKernels(p.block())));
  a.getDefiningOp()->dropAllReferences();
  b.getDefiningOp()->erase();
}

} // namespace
