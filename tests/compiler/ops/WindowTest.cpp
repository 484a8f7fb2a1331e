// SPDX-License-Identifier: Apache-2.0
// Convolution and pools. Longer expected values are PyTorch's (float64).
#include "tests/compiler/ops/ModelSamples.h"
#include <gtest/gtest.h>

using namespace halftone::test;

namespace {

TEST(Conv, HandValues) {
  OpCase row{
      "conv", "strides = array<i64: 2>", {{{1, 1, 4}}, {{1, 1, 2}}, kAbsent}};
  expectNear(resultOf(row, {{1, 2, 3, 4}, {1, 10}}), {21, 43});
  // The bias comes on top; dilation skips one element.
  OpCase dilated{
      "conv", "dilations = array<i64: 2>", {{{1, 1, 4}}, {{1, 1, 2}}, {{1}}}};
  expectNear(resultOf(dilated, {{1, 2, 3, 4}, {1, 10}, {100}}), {131, 142});
}

TEST(Conv, GroupsStridesDilationsAndUnevenPads) {
  OpCase row{"conv",
             "group = 2 : si64, strides = array<i64: 2, 1>, dilations = "
             "array<i64: 1, 2>, pads = array<i64: 1, 0, 0, 1>",
             {{{2, 2, 5, 4}}, {{4, 1, 2, 2}}, kAbsent}};
  auto y = resultOf(row, {simple(80), simple(16, 2)});
  ASSERT_EQ(y.size(), 72u);
  expectNear(llvm::ArrayRef<double>(y).drop_front(36),
             {0.75,    -0.25,   -1.25,  0.6875, 0.875,   -0.9375,
              0.8125,  0.3125,  -0.625, 1.375,  -0.5625, 0.3125,
              1.6875,  -2.75,   0.0,    1.25,   -0.4375, -0.3125,
              0.1875,  -1.3125, 0.9375, 0.1875, -1.3125, 1.0,
              0.5625,  0.4375,  1.4375, -0.75,  0.25,    0.0,
              -0.5625, 0.875,   0.375,  -0.75,  -2.0625, 0.1875});
}

TEST(Conv, AutoPad) {
  auto with = [](const char *attributes) {
    return resultOf({"conv", attributes, {{{1, 1, 5}}, {{1, 1, 2}}, kAbsent}},
                    {{1, 2, 3, 4, 5}, {1, 1}});
  };
  expectNear(with(R"(auto_pad = "SAME_UPPER", strides = array<i64: 2>)"),
             {3, 7, 5});
  expectNear(with(R"(auto_pad = "SAME_LOWER", strides = array<i64: 2>)"),
             {1, 5, 9});
  expectNear(with(R"(auto_pad = "VALID", strides = array<i64: 2>)"), {3, 7});
}

TEST(Conv, GradientsAgreeWithDifferences) { checkRows(convolutionSamples()); }

TEST(Conv, CountsFlops) {
  BuiltOp built(
      {"conv", "group = 2 : si64", {{{3, 4, 6, 5}}, {{8, 2, 3, 2}}, kAbsent}});
  ASSERT_TRUE(built.op) << built.message;
  EXPECT_EQ(llvm::cast<halftone::LibraryOpInterface>(built.op).getFlops(),
            2.0 * 3 * 8 * 4 * 4 * 2 * 3 * 2);
}

TEST(Conv, Refusals) {
  checkRefusals({
      {{"conv", "", {{{1, 3}}, {{1, 3}}, kAbsent}}, "1 to 3 spatial axes"},
      {{"conv", "group = 2 : si64", {{{1, 4, 5}}, {{2, 4, 3}}, kAbsent}},
       "do not fit 4 channels"},
      {{"conv",
        "kernel_shape = array<i64: 2>",
        {{{1, 4, 5}}, {{2, 4, 3}}, kAbsent}},
       "differs from the weights'"},
      {{"conv", "", {{{1, 4, 5}}, {{2, 4, 3}}, {{3}}}},
       "one value for each of 2 filters"},
      {{"conv", "", {{{1, 4, 5}}, {{2, 4, 6}}, kAbsent}},
       "does not fit into 5 elements"},
      {{"conv", "strides = array<i64: 0>", {{{1, 4, 5}}, {{2, 4, 3}}, kAbsent}},
       "must be positive"},
      {{"conv",
        "dilations = array<i64: 9223372036854775807>",
        {{{1, 4, 5}}, {{2, 4, 3}}, kAbsent}},
       "below 2^31"},
      {{"conv", "pads = array<i64: 1>", {{{1, 4, 5}}, {{2, 4, 3}}, kAbsent}},
       "need 1 entries and pads 2"},
      {{"conv", R"(auto_pad = "SAME")", {{{1, 4, 5}}, {{2, 4, 3}}, kAbsent}},
       "is none of"},
      {{"conv_data_gradient",
        "shape = array<i64: 1, 1, 5>, strides = array<i64: 1>, pads = "
        "array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : si64",
        {{{1, 1, 5}}, {{1, 1, 2}}}},
       "the convolution's result [1, 1, 4]"},
  });
}

TEST(MaxPool, HandValues) {
  auto with = [](const char *attributes, std::vector<double> x,
                 unsigned result) {
    return resultOf(
        {"max_pool", attributes, {{{1, 1, static_cast<int64_t>(x.size())}}}},
        {x}, result);
  };
  const char *halves = "kernel_shape = array<i64: 2>, strides = array<i64: 2>, "
                       "ceil_mode = 1 : si64";
  expectNear(with(halves, {1, 2, 3, 4, 5}, 0), {2, 4, 5});
  expectNear(with(halves, {1, 2, 3, 4, 5}, 1), {1, 3, 4});
  // A last window that would start behind the input does not count.
  expectNear(with("kernel_shape = array<i64: 2>, strides = array<i64: 4>, "
                  "ceil_mode = 1 : si64",
                  {1, 2, 3, 4}, 0),
             {2});
  // Padding is no candidate; of equal elements the first is named.
  const char *padded = "kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>";
  expectNear(with(padded, {-1, -2, -2}, 0), {-1, -1, -2});
  expectNear(with(padded, {-1, -2, -2}, 1), {0, 0, 1});
  expectNear(with(padded, {1, std::nan(""), 2}, 0),
             {std::nan(""), std::nan(""), std::nan("")});
}

TEST(MaxPool, CeilModeWithPadding) {
  OpCase row{"max_pool",
             "kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, "
             "pads = array<i64: 1, 1, 1, 1>, ceil_mode = 1 : si64",
             {{{1, 1, 5, 7}}}};
  expectNear(resultOf(row, {simple(35)}), {1.25, 1.25, 1.25, 1.25, 1.0, 1.25,
                                           1.25, 1.25, 0.75, 1.25, 1.0, 1.25});
  expectNear(resultOf(row, {simple(35)}, 1),
             {1, 1, 12, 12, 15, 23, 12, 12, 29, 23, 26, 34});
}

TEST(MaxPool, ColumnMajorIndices) {
  OpCase row{"max_pool",
             "kernel_shape = array<i64: 3, 2>, storage_order = 1 : si64",
             {{{1, 2, 3, 2}}}};
  expectNear(resultOf(row, {{0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0}}, 1), {3, 8});
}

TEST(AveragePool, CeilModeWithAndWithoutPaddingInTheCount) {
  std::string window =
      "kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 3>, pads = "
      "array<i64: 1, 1, 1, 1>, ceil_mode = 1 : si64";
  std::string counted = window + ", count_include_pad = 1 : si64";
  expectNear(resultOf({"average_pool", counted.c_str(), {{{1, 1, 5, 7}}}},
                      {simple(35)}),
             {1 / 24., -5 / 24., 1 / 12., 1 / 12., -1 / 24., 1 / 6., -1 / 12.,
              0, 7 / 24.});
  expectNear(
      resultOf({"average_pool", window.c_str(), {{{1, 1, 5, 7}}}},
               {simple(35)}),
      {0.125, -0.3125, 0.125, 1 / 6., -1 / 24., 1 / 6., -0.25, 0, 0.4375});
}

TEST(Pool, GradientsAgreeWithDifferences) { checkRows(poolSamples()); }

TEST(GlobalPool, Values) {
  expectNear(
      resultOf({"global_average_pool", "", {{{1, 2, 2, 1}}}}, {{1, 2, 3, 5}}),
      {1.5, 4});
  expectNear(
      resultOf({"global_max_pool", "", {{{1, 2, 2, 1}}}}, {{1, 2, 5, -3}}),
      {2, 5});
}

TEST(Pool, Refusals) {
  checkRefusals({
      {{"max_pool", "kernel_shape = array<i64: 2>", {{{2, 3}}}},
       "1 to 3 spatial axes"},
      {{"max_pool", "kernel_shape = array<i64: 2, 2>", {{{2, 3, 4}}}},
       "need 1 entries"},
      {{"average_pool",
        "kernel_shape = array<i64: 2>, pads = array<i64: 2, 0>",
        {{{2, 3, 4}}}},
       "smaller than the window of 2"},
      {{"global_max_pool", "", {{{2, 3}}}}, "needs spatial axes"},
  });
}

} // namespace
