// SPDX-License-Identifier: Apache-2.0
// Which ops share a kernel, and that finding it out takes linear time.
#include "BuiltProgram.h"
#include "passes/fuse/FusionGroup.h"
#include <gtest/gtest.h>

using namespace halftone;
using halftone::passes::FusionPlan;
using halftone::test::BuiltProgram;
using mlir::Value;

namespace {

TEST(FusionPlan, AnOpJoinsItsProducer) {
  BuiltProgram p;
  Value a = p.op("tanh", {p.input("x")});
  Value b = p.op("relu", {a});
  FusionPlan plan(p.block(), /*join=*/true);
  EXPECT_EQ(plan.groupOf(a.getDefiningOp()), plan.groupOf(b.getDefiningOp()));
  FusionPlan apart(p.block(), /*join=*/false);
  EXPECT_NE(apart.groupOf(a.getDefiningOp()), apart.groupOf(b.getDefiningOp()));
}

// a -> product -> sum, and a -> sum: the sum cannot be computed with `a`, since
// the product lies between.
TEST(FusionPlan, NothingLiesBetweenTheOpsOfAKernel) {
  BuiltProgram p;
  Value x = p.input("x");
  Value a = p.op("tanh", {x}), product = p.op("matmul", {a, x});
  Value sum = p.op("add", {a, product});
  FusionPlan plan(p.block(), true);
  EXPECT_NE(plan.groupOf(a.getDefiningOp()), plan.groupOf(sum.getDefiningOp()));
}

// The same where the way back leads through another kernel's earlier op: first
// joins b's kernel with late, which waits for a.
TEST(FusionPlan, NothingLiesBetweenThroughOtherKernels) {
  BuiltProgram p;
  Value x = p.input("x");
  Value early = p.op("relu", {x});
  Value one = p.op("matmul", {early, x}), two = p.op("matmul", {one, x});
  Value a = p.op("tanh", {x});
  Value late = p.op("add", {early, a});
  Value sum = p.op("add", {a, two});
  FusionPlan plan(p.block(), true);
  ASSERT_EQ(plan.groupOf(early.getDefiningOp()),
            plan.groupOf(late.getDefiningOp()));
  EXPECT_NE(plan.groupOf(a.getDefiningOp()), plan.groupOf(sum.getDefiningOp()));
}

struct Shape {
  const char *name;
  void (*build)(BuiltProgram &, int ops);
};

// Forward and backward of a chain: the way back reads every value again.
void buildThereAndBack(BuiltProgram &p, int ops) {
  std::vector<Value> values{p.input("x")};
  for (int i = 0; i < ops; ++i)
    values.push_back(p.op("tanh", {values.back()}));
  Value gradient = values.back();
  for (Value value : llvm::reverse(values))
    gradient = p.op("mul", {value, gradient});
}

// A product in every layer: all kernels are small, and none may join another.
void buildLayers(BuiltProgram &p, int ops) {
  Value w = p.input("w");
  std::vector<Value> values{p.input("x")};
  for (int i = 0; i < ops; ++i)
    values.push_back(p.op("tanh", {p.op("matmul", {values.back(), w})}));
  Value gradient = values.back();
  for (Value value : llvm::reverse(values))
    gradient = p.op("matmul", {p.op("mul", {value, gradient}), w});
}

void buildFanOut(BuiltProgram &p, int ops) {
  Value source = p.op("matmul", {p.input("x"), p.input("w")});
  Value sum = source;
  std::vector<Value> users;
  for (int i = 0; i < ops; ++i)
    users.push_back(p.op("tanh", {source}));
  for (Value user : users)
    sum = p.op("add", {sum, user});
}

void buildResidual(BuiltProgram &p, int ops) {
  Value w = p.input("w"), sum = p.input("x");
  for (int i = 0; i < ops; ++i)
    sum = p.op("add", {sum, p.op("matmul", {p.op("tanh", {sum}), w})});
}

class FusionPlanCost : public testing::TestWithParam<Shape> {};

TEST_P(FusionPlanCost, GrowsWithTheOps) {
  auto steps = [](int ops) {
    BuiltProgram p;
    GetParam().build(p, ops);
    return FusionPlan(p.block(), true).steps();
  };
  size_t small = steps(500), large = steps(2000);
  EXPECT_LE(large, 6 * small + 1000) << small << " for 500 ops";
  EXPECT_LE(large, 2000 * 2 * passes::KernelGraph::kMostSteps);
}

INSTANTIATE_TEST_SUITE_P(Graphs, FusionPlanCost,
                         testing::Values(Shape{"chain", buildThereAndBack},
                                         Shape{"layers", buildLayers},
                                         Shape{"fan_out", buildFanOut},
                                         Shape{"residual", buildResidual}),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
