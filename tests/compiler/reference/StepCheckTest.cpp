// SPDX-License-Identifier: Apache-2.0
// Steps of exec programs against hand values, and the bounds of the step check.
#include "compiler/reference/StepCheck.h"
#include "compiler/reference/RawTensor.h"
#include "compiler/reference/Tolerance.h"
#include "tests/compiler/reference/ParsedModule.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace halftone;
using namespace halftone::reference;
using halftone::test::ParsedModule;

namespace {

/// One step in a program, with the kernel that a launch needs.
std::string programWith(const std::string &buffers, const std::string &step) {
  return R"(exec.kernel @k {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2xbf16>):
    %y = graph.fused "pointwise" %a, %b {
    ^bb0(%x: tensor<2x2xf32>, %w: tensor<2xbf16>):
      %s = graph.add %x, %w : (tensor<2x2xf32>, tensor<2xbf16>) -> tensor<2x2xf32>
      %t = graph.tanh %s : (tensor<2x2xf32>) -> tensor<2x2xbf16>
      graph.yield %t : tensor<2x2xbf16>
    } : (tensor<2x2xf32>, tensor<2xbf16>) -> tensor<2x2xbf16>
  }
  exec.program @train {
)" + buffers +
         step + "\n}";
}

constexpr const char *kLaunch =
    R"(  exec.launch(%a, %b) -> (%c) {kernel = @k} : (memref<2x2xf32>, memref<2xbf16>) -> memref<4xbf16>)";
constexpr const char *kLaunchBuffers = R"(
  %a = exec.buffer "activations" "" : memref<2x2xf32>
  %b = exec.buffer "activations" "" : memref<2xbf16>
  %c = exec.buffer "activations" "" : memref<4xbf16>
)";

TEST(StepCheck, LaunchWithinOneRounding) {
  ParsedModule m(programWith(kLaunchBuffers, kLaunch));
  ASSERT_TRUE(m.module);
  auto step = m.first<exec::StepOpInterface>();
  auto bf16 = BFloat16Type::get(&m.context);
  SmallVector<HostTensor> inputs{m.tensor({2, 2}, {.1, .2, .3, .4}),
                                 m.tensor({2}, {.5, -.25}, bf16)};
  auto out = [&](double shift) {
    HostTensor t = m.tensor({4}, {}, bf16);
    for (int i = 0; i < 4; ++i)
      t.floats[i] = roundTo(
          std::tanh(inputs[0].floats[i] + inputs[1].floats[i % 2]) + shift,
          bf16);
    return t;
  };
  auto right = checkStep(step, inputs, {out(0)});
  ASSERT_TRUE(succeeded(right));
  EXPECT_FALSE(right->has_value()) << (*right)->describe();
  auto wrong = checkStep(step, inputs, {out(0.01)});
  ASSERT_TRUE(succeeded(wrong));
  ASSERT_TRUE(wrong->has_value());
  EXPECT_NE((*wrong)->describe().find("exec.launch @k"), std::string::npos);
  HostTensor nan = out(0);
  nan.floats[3] = std::nan("");
  auto notFinite = checkStep(step, inputs, {nan});
  ASSERT_TRUE(notFinite->has_value());
  EXPECT_EQ((*notFinite)->index, (SmallVector<int64_t>{3}));
}

TEST(StepCheck, MatMulBoundGrowsWithTheTerms) {
  ParsedModule m(programWith(
      R"(
  %a = exec.buffer "activations" "" : memref<1x3xf32>
  %b = exec.buffer "activations" "" : memref<2x3xf32>
  %d = exec.buffer "activations" "" : memref<2xf32>
  %c = exec.buffer "activations" "" : memref<1x2xf32>
)",
      R"(  exec.matmul(%a, %b, %d) -> (%c) {batch = 1 : i64, m = 1 : i64, n = 2 : i64, k = 3 : i64,
    transpose_a = false, transpose_b = true, stride_a = 0 : i64, stride_b = 0 : i64, stride_c = 0 : i64}
    : (memref<1x3xf32>, memref<2x3xf32>, memref<2xf32>) -> memref<1x2xf32>)"));
  ASSERT_TRUE(m.module);
  auto step = m.first<exec::StepOpInterface>();
  EXPECT_EQ(termCount(step), 4);
  // 1000 - 1000 cancels: the sum's error is relative to 2000.
  SmallVector<HostTensor> inputs{m.tensor({1, 3}, {1000, 1000, 1}),
                                 m.tensor({2, 3}, {1, -1, .5, 0, 0, 2}),
                                 m.tensor({2}, {.25, .5})};
  auto check = [&](double c0, double c1) {
    return checkStep(step, inputs, {m.tensor({1, 2}, {c0, c1})});
  };
  EXPECT_FALSE(check(.75, 2.5)->has_value());
  EXPECT_FALSE(check(.75 + 2e-4, 2.5)->has_value());
  EXPECT_TRUE(check(.75 + 2e-3, 2.5)->has_value());
  EXPECT_TRUE(check(.75, 2.5 + 1e-5)->has_value());
}

std::string convolution(const std::string &direction, const std::string &types,
                        bool last) {
  return "  exec.convolution(%a, %b) -> (%c) {direction = \"" + direction +
         "\", group = 1 : i64, strides = array<i64: 1, 1>, pads = array<i64: "
         "0, 1, 0, 0>, dilations = array<i64: 1, 1>, channels_last = " +
         (last ? "true" : "false") + "} : " + types;
}

TEST(StepReference, ConvolutionDirectionsAndLayouts) {
  // x is 1x2 pixels of 2 channels, padded by one zero on the left; w is 1x2.
  // y[j] = sum over c of x[c][j-1] w[c][0] + x[c][j] w[c][1].
  for (bool last : {false, true}) {
    std::string x = last ? "memref<1x1x2x2xf32>" : "memref<1x2x1x2xf32>";
    std::string w = x, y = last ? "memref<1x1x2x1xf32>" : "memref<1x1x1x2xf32>";
    auto run = [&](std::string direction, std::string a, std::string b,
                   std::string c, std::vector<double> va,
                   std::vector<double> vb) {
      std::string buffers = "  %a = exec.buffer \"activations\" \"\" : " + a +
                            "\n  %b = exec.buffer \"activations\" \"\" : " + b +
                            "\n  %c = exec.buffer \"activations\" \"\" : " + c +
                            "\n";
      ParsedModule m(programWith(
          buffers,
          convolution(direction, "(" + a + ", " + b + ") -> " + c, last)));
      EXPECT_TRUE(m.module);
      auto step = m.first<exec::StepOpInterface>();
      SmallVector<HostTensor> inputs;
      for (auto [value, data] :
           {std::pair(step.getInputs()[0], va), {step.getInputs()[1], vb}})
        inputs.push_back(m.tensor(tensorTypeOf(value).getShape(), data));
      Interpreter interpreter;
      auto result = runStep(step, inputs, interpreter);
      EXPECT_TRUE(succeeded(result));
      return succeeded(result) ? (*result)[0].floats : std::vector<double>();
    };
    // Channel-major and channel-last order of c0 = (1, 2), c1 = (3, 4).
    std::vector<double> image = last ? std::vector<double>{1, 3, 2, 4}
                                     : std::vector<double>{1, 2, 3, 4};
    std::vector<double> kernel = last ? std::vector<double>{5, 7, 6, 8}
                                      : std::vector<double>{5, 6, 7, 8};
    EXPECT_EQ(run("forward", x, w, y, image, kernel),
              (std::vector<double>{6 + 24, 5 + 21 + 12 + 32}));
    // dx[c][j] = dy[j] w[c][1] + dy[j+1] w[c][0], with dy = (1, 10).
    std::vector<double> dx = last ? std::vector<double>{56, 78, 60, 80}
                                  : std::vector<double>{56, 60, 78, 80};
    EXPECT_EQ(run("data_gradient", y, w, x, {1, 10}, kernel), dx);
    // dw[c][0] = dy[1] x[c][0]; dw[c][1] = dy[0] x[c][0] + dy[1] x[c][1].
    std::vector<double> dw = last ? std::vector<double>{10, 30, 21, 43}
                                  : std::vector<double>{10, 21, 30, 43};
    EXPECT_EQ(run("weight_gradient", x, y, w, image, {1, 10}), dw);
  }
}

TEST(RawTensor, DecodesWhatItEncodes) {
  MLIRContext context;
  Builder b(&context);
  for (Type type :
       {Type(b.getF32Type()), Type(b.getF16Type()), Type(b.getBF16Type()),
        Type(b.getI64Type()), Type(b.getI32Type()), Type(b.getI1Type())}) {
    HostTensor t(RankedTensorType::get({2, 2}, type));
    for (int64_t i = 0; i < 4; ++i)
      t.set(i, type.isInteger(1) ? int64_t(i & 1) : i - 2);
    auto bytes = encodeRaw(t);
    ASSERT_TRUE(succeeded(bytes));
    auto back = decodeRaw(t.getType(), *bytes);
    ASSERT_TRUE(succeeded(back));
    EXPECT_EQ(back->floats, t.floats);
    EXPECT_EQ(back->ints, t.ints);
    bytes->pop_back();
    EXPECT_TRUE(failed(decodeRaw(t.getType(), *bytes)));
  }
}

TEST(Tolerance, HalfUlp) {
  MLIRContext context;
  Builder b(&context);
  EXPECT_EQ(halfUlp(1, b.getF32Type()), 0x1p-24);
  EXPECT_EQ(halfUlp(1, b.getBF16Type()), 0x1p-8);
  EXPECT_EQ(halfUlp(3, b.getF16Type()), 0x1p-10);
  EXPECT_EQ(halfUlp(0, b.getF16Type()), 0x1p-25);
  EXPECT_EQ(halfUlp(1, b.getI64Type()), 0);
}

} // namespace
