// SPDX-License-Identifier: Apache-2.0
// Row, column and scatter kernels on the CPU against `evaluate`.
#include "tests/codegen/KernelHarness.h"
#include <gtest/gtest.h>

using namespace halftone;
using namespace halftone::testing;

namespace {

std::string tensor(const std::vector<int64_t> &shape, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + type + ">";
}

std::string list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t v : values)
    text += (text.empty() ? "array<i64: " : ", ") + std::to_string(v);
  return text.empty() ? "array<i64>" : text + ">";
}

/// One region over `shape` that reduces `axes`; `storage` is the type of the
/// large inputs and outputs.
struct Rows {
  std::vector<int64_t> shape, axes;
  std::string storage;

  std::string full(const std::string &type) const {
    return tensor(shape, type);
  }
  std::string row(const std::string &type = "f32") const {
    std::vector<int64_t> kept = shape;
    for (int64_t axis : axes)
      kept[axis] = 1;
    return tensor(kept, type);
  }
  std::string attributes() const {
    return "domain = " + list(shape) + ", reduced = " + list(axes);
  }
  std::string reduce(const std::string &to, const std::string &op,
                     const std::string &from) const {
    return "%" + to + " = graph." + op + " %" + from +
           " {axes = " + list(axes) + "} : (" + full("f32") + ") -> " + row() +
           "\n";
  }
  /// `op` of full and row operands with a full result.
  std::string binary(const std::string &to, const std::string &op,
                     const std::string &a, const std::string &b,
                     bool bIsRow) const {
    return "%" + to + " = graph." + op + " %" + a + ", %" + b + " : (" +
           full("f32") + ", " + (bIsRow ? row() : full("f32")) + ") -> " +
           full("f32") + "\n";
  }
  std::string unary(const std::string &to, const std::string &op,
                    const std::string &a) const {
    return "%" + to + " = graph." + op + " %" + a + " : (" + full("f32") +
           ") -> " + full("f32") + "\n";
  }
  std::string widen() const {
    return "%w = graph.cast %x {to = f32} : (" + full(storage) + ") -> " +
           full("f32") + "\n";
  }
  std::string narrow(const std::string &from) const {
    return "%y = graph.cast %" + from + " {to = " + storage + "} : (" +
           full("f32") + ") -> " + full(storage) + "\n";
  }

  std::string softmax() const {
    return kernelText("softmax", "reduction", "%x: " + full(storage),
                      widen() + reduce("max", "reduce_max", "w") +
                          binary("shifted", "sub", "w", "max", true) +
                          unary("e", "exp", "shifted") +
                          reduce("sum", "reduce_sum", "e") +
                          binary("p", "div", "e", "sum", true) + narrow("p"),
                      "%y, %max", full(storage) + ", " + row(), attributes());
  }
  std::string normalize() const {
    return kernelText(
        "normalize", "reduction", "%x: " + full(storage) + ", %scale: " + row(),
        widen() + reduce("mean", "reduce_mean", "w") +
            binary("d", "sub", "w", "mean", true) +
            binary("q", "mul", "d", "d", false) +
            reduce("var", "reduce_mean", "q") +
            "%eps = graph.constant dense<1.000000e-05> : tensor<f32>\n"
            "%v = graph.add %var, %eps : (" +
            row() + ", tensor<f32>) -> " + row() + "\n" +
            "%sd = graph.sqrt %v : (" + row() + ") -> " + row() + "\n" +
            "%k = graph.div %scale, %sd : (" + row() + ", " + row() + ") -> " +
            row() + "\n" + binary("n", "mul", "d", "k", true) + narrow("n"),
        "%y, %mean, %sd", full(storage) + ", " + row() + ", " + row(),
        attributes());
  }
  /// A product less its own largest.
  std::string shiftedProduct() const {
    return kernelText("shifted", "reduction",
                      "%x: " + full(storage) + ", %z: " + full("f32"),
                      widen() + binary("product", "mul", "w", "z", false) +
                          reduce("max", "reduce_max", "product") +
                          binary("shifted", "sub", "product", "max", true),
                      "%shifted", full("f32"), attributes());
  }
  std::string sums() const {
    return kernelText("sums", "reduction",
                      "%x: " + full(storage) + ", %z: " + full(storage),
                      widen() + "%wz = graph.cast %z {to = f32} : (" +
                          full(storage) + ") -> " + full("f32") + "\n" +
                          binary("product", "mul", "w", "wz", false) +
                          reduce("a", "reduce_sum", "w") +
                          reduce("b", "reduce_sum", "product"),
                      "%a, %b", row() + ", " + row(), attributes());
  }
};

std::ostream &operator<<(std::ostream &out, const Rows &r) {
  return out << r.full(r.storage) << " over " << list(r.axes);
}

const Rows kRows[] = {
    {{4, 8}, {1}, "f32"},
    {{1, 1}, {1}, "f32"},
    {{3, 7}, {1}, "bf16"},
    {{5, 1031}, {1}, "f16"},
    {{2, 3, 768}, {2}, "bf16"},
    {{2, 40000}, {1}, "f32"},
    {{1, 100001}, {1}, "f32"},
    {{4, 3, 5, 7}, {0, 2, 3}, "f32"},
    {{2, 6, 4, 4}, {0, 2, 3}, "bf16"},
    {{33, 70}, {0}, "f32"},
    {{2, 5, 5, 96}, {0, 1, 2}, "bf16"},
    {{3, 9, 65}, {1}, "f16"},
    {{6, 1}, {0}, "f32"},
    {{1, 5}, {0}, "f32"},
    {{300, 3}, {0}, "f32"},
    {{7, 11, 13}, {0, 1, 2}, "f32"},
    {{2, 3, 4, 5}, {1, 3}, "f32"},
    {{2, 3, 4, 5}, {0, 2}, "f32"},
};

class Reduction : public ::testing::TestWithParam<Rows> {
protected:
  void check(const std::string &text, double roundings, double floor) {
    KernelModule module(text);
    ASSERT_TRUE(module) << text;
    ASSERT_TRUE(module.compile()) << module.diagnostic << text;
    std::vector<HostTensor> inputs;
    for (mlir::Value v : module.fused().getInputs())
      inputs.push_back(randomTensor(v.getType(), 11 + inputs.size()));
    auto expected = module.reference(inputs), whole = module.run(inputs);
    int64_t items = module.info().workItems;
    auto cut = module.run(inputs, {items / 3, items / 2});
    ASSERT_EQ(expected.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_LE(errorInRoundings(whole[i], expected[i], floor), roundings)
          << "result " << i << " of " << text;
      EXPECT_TRUE(whole[i].floats == cut[i].floats);
    }
  }
};

TEST_P(Reduction, Softmax) { check(GetParam().softmax(), 6, 1e-6); }
TEST_P(Reduction, Normalize) { check(GetParam().normalize(), 8, 0.1); }
TEST_P(Reduction, TwoSumsAtOnce) { check(GetParam().sums(), 2, 20); }

// Whatever the pass, the product is the same number: the largest differs from
// itself by nothing.
TEST_P(Reduction, ProductsAreTheSameInEveryPass) {
  KernelModule module(GetParam().shiftedProduct());
  ASSERT_TRUE(module.compile()) << module.diagnostic;
  std::vector<HostTensor> inputs;
  for (mlir::Value v : module.fused().getInputs())
    inputs.push_back(randomTensor(v.getType(), 17 + inputs.size()));
  int64_t rows = graph::numElements(GetParam().shape);
  for (int64_t axis : GetParam().axes)
    rows /= GetParam().shape[axis];
  HostTensor shifted = module.run(inputs)[0];
  EXPECT_GE(llvm::count(shifted.floats, 0.0), rows);
  EXPECT_LE(*llvm::max_element(shifted.floats), 0.0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Reduction, ::testing::ValuesIn(kRows));

TEST(Reduction, SumOfAMillionIsExactToOneRounding) {
  Rows rows{{1, 1000000}, {1}, "f32"};
  KernelModule module(rows.sums());
  ASSERT_TRUE(module.compile()) << module.diagnostic;
  std::vector<HostTensor> inputs{
      randomTensor(module.fused().getInputs()[0].getType(), 1, 0, 1),
      randomTensor(module.fused().getInputs()[1].getType(), 2, 0, 1)};
  auto expected = module.reference(inputs), actual = module.run(inputs);
  EXPECT_LE(errorInRoundings(actual[0], expected[0]), 1);
  EXPECT_LE(errorInRoundings(actual[1], expected[1]), 1.5);
}

TEST(Reduction, RefusesOtherAxes) {
  Rows rows{{4, 8}, {1}, "f32"};
  std::string text = rows.sums();
  size_t at = text.find("reduced = array<i64: 1>");
  text.replace(at, 23, "reduced = array<i64: 0>");
  KernelModule module(text);
  ASSERT_TRUE(module);
  EXPECT_FALSE(module.compile());
  EXPECT_NE(module.diagnostic.find("reduces axes"), std::string::npos)
      << module.diagnostic;
}

TEST(Scatter, AddsRowsInOrder) {
  for (const char *type : {"f32", "bf16"}) {
    std::string t = type;
    KernelModule module(
        kernelText("scatter", "scatter",
                   "%i: tensor<60xi64>, %dy: tensor<60x70x" + t + ">",
                   "%s = graph.gather_grad %i, %dy {rows = 9 : si64} : "
                   "(tensor<60xi64>, tensor<60x70x" +
                       t + ">) -> tensor<9x70x" + t + ">",
                   "%s", "tensor<9x70x" + t + ">"));
    ASSERT_TRUE(module);
    ASSERT_TRUE(module.compile()) << module.diagnostic;
    std::vector<HostTensor> inputs{
        randomTensor(module.fused().getInputs()[0].getType(), 3, -9, 9),
        randomTensor(module.fused().getInputs()[1].getType(), 4)};
    auto expected = module.reference(inputs), whole = module.run(inputs),
         cut = module.run(inputs, {module.info().workItems / 2});
    EXPECT_LE(errorInRoundings(whole[0], expected[0], 0.01), 1.01);
    EXPECT_TRUE(whole[0].floats == cut[0].floats);
  }
}

TEST(Reuse, OnlyWhereReadInPlace) {
  KernelModule module(kernelText(
      "k", "pointwise",
      "%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf16>",
      "%t = graph.transpose %y : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
      "%a = graph.add %x, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
      "tensor<8x8xf32>",
      "%a", "tensor<8x8xf32>"));
  auto reusable = codegen::inputsOutputsMayReuse(module.fused());
  ASSERT_EQ(reusable.size(), 1u);
  EXPECT_EQ(reusable[0].size(), 1u);
  EXPECT_EQ(reusable[0][0], 0u);
}

} // namespace
