// SPDX-License-Identifier: Apache-2.0
// The elementary functions of generated kernels over all magnitudes of f32,
// subnormal numbers and special values, against the C library in double.
#include "tests/codegen/KernelHarness.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace halftone;
using namespace halftone::testing;

namespace {

struct Function {
  const char *op;
  std::function<double(double)> exact;
  double roundings; ///< Half an ulp each.
  double limit;     ///< Largest |x| that is tried.
};

std::ostream &operator<<(std::ostream &out, const Function &f) {
  return out << f.op;
}

constexpr int64_t kCount = 1 << 18;

/// Bit patterns spread over all floats, dense values near 0 and in [-20, 20],
/// and the special ones.
std::vector<float> samples(double limit) {
  std::vector<float> x{0.f,       -0.f,   1.f,    -1.f,    INFINITY,
                       -INFINITY, NAN,    88.5f,  88.8f,   -87.4f,
                       -103.5f,   -104.f, 1e-45f, -1e-45f, 0x1p-126f};
  for (uint32_t bits = 0; static_cast<int64_t>(x.size()) < kCount / 2;
       bits += 32749u)
    if (float f = std::bit_cast<float>(bits);
        std::isfinite(f) && std::abs(f) <= limit)
      x.push_back(f);
  for (int64_t i = 0; static_cast<int64_t>(x.size()) < kCount; ++i)
    x.push_back(
        static_cast<float>(-20 + 80.0 * static_cast<double>(i) / kCount));
  return x;
}

class Accuracy : public ::testing::TestWithParam<Function> {};

TEST_P(Accuracy, OfAllMagnitudes) {
  const Function &f = GetParam();
  std::string type = "tensor<" + std::to_string(kCount) + "xf32>";
  KernelModule module(kernelText("f", "pointwise", "%x: " + type,
                                 "%y = graph." + std::string(f.op) + " %x : (" +
                                     type + ") -> " + type,
                                 "%y", type));
  ASSERT_TRUE(module);
  ASSERT_TRUE(module.compile()) << module.diagnostic;
  HostTensor x(mlir::cast<mlir::RankedTensorType>(
      module.fused().getInputs()[0].getType()));
  std::vector<float> points = samples(f.limit);
  for (int64_t i = 0; i < kCount; ++i)
    x.floats[i] = points[i];
  HostTensor y = module.run({x})[0];
  double worst = 0, at = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    double exact = f.exact(x.floats[i]), actual = y.floats[i];
    if (std::isnan(exact) || std::isinf(static_cast<float>(exact))) {
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(actual)
                                    : actual == static_cast<float>(exact))
          << f.op << "(" << x.floats[i] << ") is " << actual;
      continue;
    }
    // Below the normal numbers a rounding is half of the smallest one.
    double unit = std::max(std::abs(exact), 0x1p-126) * 0x1p-24,
           error = std::abs(actual - exact) / unit;
    if (!(error <= worst)) {
      worst = error;
      at = x.floats[i];
    }
  }
  EXPECT_LE(worst, f.roundings) << f.op << "(" << at << ")";
  RecordProperty("roundings", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Accuracy,
    ::testing::Values(
        Function{"exp", [](double x) { return std::exp(x); }, 3, INFINITY},
        Function{"expm1", [](double x) { return std::expm1(x); }, 4, INFINITY},
        Function{"log", [](double x) { return std::log(x); }, 3, INFINITY},
        Function{"softplus",
                 [](double x) {
                   return std::max(x, 0.) + std::log1p(std::exp(-std::abs(x)));
                 },
                 5, INFINITY},
        Function{"tanh", [](double x) { return std::tanh(x); }, 6, INFINITY},
        Function{"erf", [](double x) { return std::erf(x); }, 4, INFINITY},
        Function{"sin", [](double x) { return std::sin(x); }, 2, 0x1p40},
        Function{"cos", [](double x) { return std::cos(x); }, 2, 0x1p40},
        Function{"sqrt", [](double x) { return std::sqrt(x); }, 1, INFINITY}),
    [](const auto &f) { return std::string(f.param.op); });

TEST(Power, AsInC) {
  const float values[] = {
      0.f,    -0.f,       1.f,        -1.f,       0.5f,      -0.5f, 2.f,
      -2.f,   3.f,        -3.f,       2.5f,       7.f,       1e-3f, 1e3f,
      1e30f,  1e-30f,     1e-44f,     INFINITY,   -INFINITY, NAN,   100.f,
      -101.f, 0.9999999f, 1.0000001f, 33554432.f, -0.333f};
  constexpr int64_t kValues = std::size(values);
  std::string n = std::to_string(kValues);
  std::string column = "tensor<" + n + "x1xf32>", row = "tensor<" + n + "xf32>",
              full = "tensor<" + n + "x" + n + "xf32>";
  KernelModule module(kernelText(
      "power", "pointwise", "%x: " + column + ", %y: " + row,
      "%z = graph.pow %x, %y : (" + column + ", " + row + ") -> " + full, "%z",
      full));
  ASSERT_TRUE(module);
  ASSERT_TRUE(module.compile()) << module.diagnostic;
  auto inputs = module.fused().getInputs();
  HostTensor x(mlir::cast<mlir::RankedTensorType>(inputs[0].getType())),
      y(mlir::cast<mlir::RankedTensorType>(inputs[1].getType()));
  for (int64_t i = 0; i < kValues; ++i)
    x.floats[i] = y.floats[i] = values[i];
  HostTensor z = module.run({x, y})[0];
  for (int64_t i = 0; i < kValues; ++i)
    for (int64_t k = 0; k < kValues; ++k) {
      double exact = std::pow(static_cast<double>(values[i]),
                              static_cast<double>(values[k])),
             actual = z.floats[i * kValues + k];
      if (std::isnan(exact))
        EXPECT_TRUE(std::isnan(actual))
            << values[i] << "^" << values[k] << " is " << actual;
      else if (std::isinf(static_cast<float>(exact)) || exact == 0)
        EXPECT_TRUE(actual == static_cast<float>(exact) &&
                    std::signbit(actual) == std::signbit(exact))
            << values[i] << "^" << values[k] << " is " << actual;
      else
        EXPECT_LE(std::abs(actual - exact),
                  std::max(std::abs(exact), 0x1p-126) * 0x1.02p-24)
            << values[i] << "^" << values[k];
    }
}

} // namespace
