// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, bool operators and activations.
#include "tests/compiler/ops/HandValue.h"
#include "tests/compiler/ops/Samples.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace halftone::test;

namespace {

const double kNaN = std::nan(""), kInf = HUGE_VAL;

TEST(Elementwise, RulesAndDecompositions) { checkRows(elementwiseSamples()); }
TEST(Logic, Evaluates) { checkRows(logicSamples()); }
TEST(Activation, RulesAndDecompositions) { checkRows(activationSamples()); }

TEST(Elementwise, HandValues) {
  checkHandValues({
      {{"add", "", {{{2, 1}}, {{2}}}}, {{1, 2}, {10, 20}}, {11, 21, 12, 22}},
      {{"div", "", {{{3}, 'i'}, {{1}, 'i'}}}, {{7, -7, 6}, {2}}, {3, -3, 3}},
      // The lowest integer stays: its negative is out of range.
      {{"div", "", {{{1}, 'i'}, {{1}, 'i'}}}, {{-0x1p63}, {-1}}, {-0x1p63}},
      {{"neg", "", {{{1}, 'i'}}}, {{-0x1p63}}, {-0x1p63}},
      {{"abs", "", {{{1}, 'i'}}}, {{-0x1p63}}, {-0x1p63}},
      // Integers wrap around.
      {{"add", "", {{{1}, 'i'}, {{1}, 'i'}}}, {{-0x1p63}, {-0x1p63}}, {0}},
      {{"sub", "", {{{1}, 'i'}, {{1}, 'i'}}}, {{-0x1p63}, {0x1p62}}, {0x1p62}},
      {{"mul", "", {{{1}, 'i'}, {{1}, 'i'}}}, {{0x1p62}, {6}}, {-0x1p63}},
      {{"sum", "", {{{1}, 'i'}, {{1}, 'i'}, {{1}, 'i'}}},
       {{0x1p62}, {0x1p62}, {0x1p62}},
       {-0x1p62}},
      {{"mod", "", {{{4}, 'i'}, {{4}, 'i'}}},
       {{7, -7, 7, -7}, {3, 3, -3, -3}},
       {1, 2, -2, -1}},
      {{"mod", "fmod = 1 : si64", {{{2}, 'i'}, {{2}, 'i'}}},
       {{7, -7}, {3, 3}},
       {1, -1}},
      {{"pow", "", {{{3}, 'i'}, {{3}, 'i'}}},
       {{2, -3, 7}, {5, 3, 0}},
       {32, -27, 1}},
      {{"round", "", {{{4}}}}, {{0.5, 1.5, -0.5, -2.5}}, {0, 2, 0, -2}},
      {{"sign", "", {{{4}}}}, {{-3, 0, 0.5, kNaN}}, {-1, 0, 1, kNaN}},
      {{"max", "", {{{3}}, {{3}}, {{}}}},
       {{1, 5, kNaN}, {2, 3, 0}, {1.5}},
       {2, 5, kNaN}},
      {{"min", "", {{{3}}, {{3}}}}, {{1, 5, 2}, {2, 3, kNaN}}, {1, 3, kNaN}},
      {{"mean", "", {{{2}}, {{2}}}}, {{1, 2}, {4, 5}}, {2.5, 3.5}},
      {{"clip", "min = 0.0 : f32", {{{3}}}}, {{-1, kNaN, 3}}, {0, kNaN, 3}},
      // ONNX: where the bounds cross, the upper one wins.
      {{"clip", "min = 3.0 : f32, max = 1.0 : f32", {{{2}}}}, {{0, 9}}, {1, 1}},
      {{"where", "", {{{2}, 'b'}, {{2}}, {{}}}},
       {{1, 0}, {5, 6}, {-1}},
       {5, -1}},
      {{"cast", "to = i64", {{{3}}}}, {{2.9, -2.9, 0.5}}, {2, -2, 0}},
      {{"cast", "to = i1", {{{3}}}}, {{0.25, 0, -3}}, {1, 0, 1}},
      {{"cast", "to = i8", {{{2}, 'i'}}}, {{300, -129}}, {44, 127}},
      {{"erf", "", {{{2}}}}, {{0, 0.5}}, {0, 0.52049987781304654}},
  });
}

TEST(Logic, HandValues) {
  checkHandValues({
      {{"equal", "", {{{3}}, {{3}}}}, {{1, 2, kNaN}, {1, 3, kNaN}}, {1, 0, 0}},
      {{"not_equal", "", {{{3}}, {{3}}}},
       {{1, 2, kNaN}, {1, 3, kNaN}},
       {0, 1, 1}},
      {{"less_or_equal", "", {{{3}}, {{}}}}, {{1, 2, 3}, {2}}, {1, 1, 0}},
      {{"greater", "", {{{3}, 'i'}, {{}, 'i'}}}, {{1, 2, 3}, {2}}, {0, 0, 1}},
      {{"xor", "", {{{4}, 'b'}, {{4}, 'b'}}},
       {{0, 0, 1, 1}, {0, 1, 0, 1}},
       {0, 1, 1, 0}},
      {{"is_nan", "", {{{3}}}}, {{kNaN, kInf, 0}}, {1, 0, 0}},
      {{"is_inf", "", {{{3}}}}, {{-kInf, kInf, kNaN}}, {1, 1, 0}},
      {{"is_inf", "detect_negative = 0 : si64", {{{2}}}},
       {{-kInf, kInf}},
       {0, 1}},
      {{"is_finite", "", {{{4}}}}, {{-kInf, kInf, kNaN, 1e300}}, {0, 0, 0, 1}},
  });
}

TEST(Activation, HandValues) {
  checkHandValues({
      {{"relu", "", {{{3}}}}, {{-1, 0, 2}}, {0, 0, 2}},
      {{"sigmoid", "", {{{3}}}}, {{0, -800, 800}}, {0.5, 0, 1}},
      {{"softplus", "", {{{3}}}}, {{0, -800, 800}}, {std::log(2.0), 0, 800}},
      {{"gelu", "", {{{3}}}},
       {{0, 1, -1}},
       {0, 0.84134474606854293, -0.15865525393145707}},
      {{"gelu", "approximate = \"tanh\"", {{{2}}}},
       {{0, 1}},
       {0, 0.84119199060827676}},
      {{"leaky_relu", "alpha = 0.25 : f32", {{{2}}}}, {{-4, 4}}, {-1, 4}},
      {{"hard_sigmoid", "alpha = 0.25 : f32", {{{4}}}},
       {{-4, -1, 0, 4}},
       {0, 0.25, 0.5, 1}},
      {{"hard_swish", "", {{{4}}}},
       {{-3, -1, 1, 4}},
       {0, -1.0 / 3, 2.0 / 3, 4}},
      {{"elu", "", {{{2}}}}, {{-std::log(2.0), 3}}, {-0.5, 3}},
      {{"prelu", "", {{{2, 2}}, {{2}}}},
       {{-1, -1, 1, 1}, {2, 3}},
       {-2, -3, 1, 1}},
      {{"swish", "", {{{2}}}}, {{0, -800}}, {0, 0}},
  });
}

// Where a function has a kink, a pole or a tie.
TEST(Elementwise, GradientsAtCorners) {
  checkHandGradients({
      {{"relu", "", {{{3}}}}, {{-1, 0, 1}}, {5, 5, 5}, {{0, 0, 5}}},
      {{"abs", "", {{{3}}}}, {{-1, 0, 1}}, {5, 5, 5}, {{-5, 0, 5}}},
      {{"clip", "min = 0.0 : f32, max = 1.0 : f32", {{{4}}}},
       {{-1, 0, 1, 2}},
       {5, 5, 5, 5},
       {{0, 5, 5, 0}}},
      {{"max", "", {{{3}}, {{3}}}},
       {{1, 2, 2}, {1, 1, 3}},
       {4, 4, 4},
       {{2, 4, 0}, {2, 0, 4}}},
      {{"pow", "", {{{3}}, {{3}}}},
       {{0, 0, 2}, {0, 2, 0}},
       {1, 1, 1},
       {{0, 0, 0}, {0, 0, std::log(2.0)}}},
      {{"where", "", {{{2}, 'b'}, {{2}}, {{2}}}},
       {{1, 0}, {kInf, 1}, {1, kInf}},
       {3, 4},
       {{}, {3, 0}, {0, 4}}},
      {{"hard_sigmoid", "", {{{2}}}}, {{-2.5, 2.5}}, {1, 1}, {{0, 0}}},
  });
}

TEST(Elementwise, Refusals) {
  checkRefusals({
      {{"add", "", {{{2}}, {{3}}}}, "do not broadcast"},
      {{"exp", "", {{{2}, 'i'}}}, "must be statically shaped tensor"},
      {{"and", "", {{{2}}, {{2}}}}, "must be"},
      {{"where", "", {{{2}}, {{2}}, {{2}}}}, "must be"},
      {{"max", "", {}}, "needs at least one operand"},
      {{"gelu", "approximate = \"sigmoid\"", {{{2}}}}, "must be none or tanh"},
  });
  BuiltOp division({"div", "", {{{1}, 'i'}, {{1}, 'i'}}});
  division.set(1, {0});
  EXPECT_TRUE(division.evaluate().empty());
}

} // namespace
