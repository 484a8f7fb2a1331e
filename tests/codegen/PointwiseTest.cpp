// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels on the CPU against `evaluate`.
#include "tests/codegen/KernelHarness.h"
#include <gtest/gtest.h>

using namespace halftone;
using namespace halftone::testing;

namespace {

struct Case {
  const char *name, *arguments, *body, *yielded, *results;
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  return out << c.name;
}

const Case kCases[] = {
    {"linear", "%x: tensor<5000xf32>, %y: tensor<5000xf32>",
     "%a = graph.add %x, %y : (tensor<5000xf32>, tensor<5000xf32>) -> "
     "tensor<5000xf32>\n"
     "%b = graph.tanh %a : (tensor<5000xf32>) -> tensor<5000xf32>",
     "%b", "tensor<5000xf32>"},
    {"broadcast_row_bf16", "%x: tensor<7x33xbf16>, %y: tensor<33xbf16>",
     "%a = graph.add %x, %y : (tensor<7x33xbf16>, tensor<33xbf16>) -> "
     "tensor<7x33xbf16>\n"
     "%b = graph.mul %a, %x : (tensor<7x33xbf16>, tensor<7x33xbf16>) -> "
     "tensor<7x33xbf16>",
     "%b, %a", "tensor<7x33xbf16>, tensor<7x33xbf16>"},
    {"broadcast_channel_f16", "%x: tensor<2x3x5x7xf16>, %y: tensor<3x1x1xf32>",
     "%a = graph.mul %x, %y : (tensor<2x3x5x7xf16>, tensor<3x1x1xf32>) -> "
     "tensor<2x3x5x7xf16>",
     "%a", "tensor<2x3x5x7xf16>"},
    {"transpose_reshape", "%x: tensor<2x6x4x8xf32>, %y: tensor<2x4x48xf32>",
     "%a = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : "
     "(tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>\n"
     "%b = graph.reshape %a {shape = array<i64: 2, 4, 48>} : "
     "(tensor<2x4x6x8xf32>) -> tensor<2x4x48xf32>\n"
     "%c = graph.sub %b, %y : (tensor<2x4x48xf32>, tensor<2x4x48xf32>) -> "
     "tensor<2x4x48xf32>",
     "%c", "tensor<2x4x48xf32>"},
    {"scalar", "%x: tensor<f32>",
     "%a = graph.neg %x : (tensor<f32>) -> tensor<f32>", "%a", "tensor<f32>"},
    {"long_rows", "%x: tensor<3x2500xf32>, %y: tensor<3x1xf32>",
     "%a = graph.mul %x, %y : (tensor<3x2500xf32>, tensor<3x1xf32>) -> "
     "tensor<3x2500xf32>",
     "%a", "tensor<3x2500xf32>"},
    {"shared_subexpression", "%x: tensor<64xf32>",
     "%a = graph.add %x, %x : (tensor<64xf32>, tensor<64xf32>) -> "
     "tensor<64xf32>\n"
     "%b = graph.add %a, %a : (tensor<64xf32>, tensor<64xf32>) -> "
     "tensor<64xf32>\n"
     "%c = graph.add %b, %b : (tensor<64xf32>, tensor<64xf32>) -> "
     "tensor<64xf32>\n"
     "%k = graph.constant dense<0.25> : tensor<f32>\n"
     "%d = graph.mul %c, %k : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>",
     "%d", "tensor<64xf32>"},
};

class Pointwise : public ::testing::TestWithParam<Case> {};

TEST_P(Pointwise, EqualsReferenceForAnyPartition) {
  const Case &c = GetParam();
  KernelModule module(
      kernelText("k", "pointwise", c.arguments, c.body, c.yielded, c.results));
  ASSERT_TRUE(module);
  ASSERT_TRUE(module.compile()) << module.diagnostic;
  std::vector<HostTensor> inputs;
  for (mlir::Value v : module.fused().getInputs())
    inputs.push_back(randomTensor(v.getType(), 7 + inputs.size()));
  auto expected = module.reference(inputs), whole = module.run(inputs);
  int64_t items = module.info().workItems;
  auto cut = module.run(inputs, {items / 3, items / 2});
  ASSERT_EQ(expected.size(), whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_LE(errorInRoundings(whole[i], expected[i], 0.1), 4);
    EXPECT_TRUE(whole[i].floats == cut[i].floats &&
                whole[i].ints == cut[i].ints);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Pointwise, ::testing::ValuesIn(kCases),
                         [](const auto &c) { return c.param.name; });

} // namespace
