// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/ops/Samples.h"

namespace halftone::test {

// Steps and kinks lie off the sampled values.
std::vector<OpCase> elementwiseSamples() {
  return {
      {"add", "", {{{2, 3, 4}}, {{3, 1}}}},
      {"add", "", {{{5}, 'i', -4, 4}, {{5}, 'i', -4, 4}}},
      {"sub", "", {{{2, 3}}, {{2, 3}}}},
      {"mul", "", {{{4}}, {{3, 4}}}},
      {"div", "", {{{3, 4}}, {{4}, 'f', 0.5, 2}}},
      {"div", "", {{{7}, 'i', -9, 9}, {{7}, 'i', 1, 4}}},
      {"pow", "", {{{3, 4}, 'f', 0.5, 2}, {{4}, 'f', -2, 3}}},
      {"pow", "", {{{6}, 'i', -3, 3}, {{6}, 'i', 0, 4}}},
      {"mod", "", {{{9}, 'i', -9, 9}, {{9}, 'i', 1, 5}}},
      {"mod", "fmod = 1 : si64", {{{6}, 'f', -5, 5}, {{6}, 'f', 1, 2}}},
      {"neg", "", {{{2, 5}}}},
      {"neg", "", {{{5}, 'i', -4, 4}}},
      {"abs", "", {{{2, 5}}}},
      {"abs", "", {{{5}, 'i', -4, 4}}},
      {"sign", "", {{{7}, 'f', -2, 2}}},
      {"sign", "", {{{7}, 'i', -2, 2}}},
      {"floor", "", {{{7}, 'f', -3, 3}}},
      {"ceil", "", {{{7}, 'f', -3, 3}}},
      {"round", "", {{{7}, 'f', -3, 3}}},
      {"exp", "", {{{7}, 'f', -3, 3}}},
      {"log", "", {{{7}, 'f', 0.1, 9}}},
      {"sqrt", "", {{{7}, 'f', 0.1, 9}}},
      {"reciprocal", "", {{{7}, 'f', 0.5, 3}}},
      {"erf", "", {{{7}, 'f', -2, 2}}},
      {"tanh", "", {{{7}, 'f', -3, 3}}},
      {"sin", "", {{{7}, 'f', -6, 6}}},
      {"cos", "", {{{7}, 'f', -6, 6}}},
      {"tan", "", {{{7}, 'f', -1.2, 1.2}}},
      {"max", "", {{{2, 3}}, {{3}}, {{2, 1}}}},
      {"max", "", {{{5}, 'i', -4, 4}, {{5}, 'i', -4, 4}}},
      {"min", "", {{{2, 3}}, {{3}}, {{2, 1}}}},
      {"sum", "", {{{2, 3}}, {{3}}, {{2, 1}}}},
      {"mean", "", {{{2, 3}}, {{3}}, {{2, 1}}}},
      {"clip", "min = -0.5 : f32, max = 0.75 : f32", {{{11}}}},
      {"clip", "max = 2 : si64", {{{11}, 'i', -4, 4}}},
      {"where", "", {{{3, 1}, 'b'}, {{3, 4}}, {{4}}}},
      {"where", "", {{{5}, 'b'}, {{5}, 'i', 0, 9}, {{}, 'i', -1, -1}}},
      {"identity", "", {{{3}}}},
      {"cast", "to = bf16", {{{3, 2}}}},
      {"cast", "to = i64", {{{7}, 'f', -3, 3}}},
      {"cast", "to = i1", {{{7}, 'i', 0, 1}}},
      {"cast", "to = f32", {{{7}, 'b'}}},
      {"cast_like", "", {{{7}}, {{1}, 'i'}}},
      {"cast_like", "", {{{7}}, {{1}}}},
  };
}

std::vector<OpCase> logicSamples() {
  std::vector<OpCase> rows;
  for (const char *name : {"equal", "not_equal", "greater", "greater_or_equal",
                           "less", "less_or_equal"}) {
    rows.push_back({name, "", {{{4, 5}}, {{5}}}});
    rows.push_back({name, "", {{{9}, 'i', -2, 2}, {{9}, 'i', -2, 2}}});
  }
  for (const char *name : {"and", "or", "xor"})
    rows.push_back({name, "", {{{8}, 'b'}, {{8}, 'b'}}});
  rows.push_back({"not", "", {{{8}, 'b'}}});
  for (const char *name : {"is_nan", "is_inf", "is_finite"})
    rows.push_back({name, "", {{{3}}}});
  return rows;
}

std::vector<OpCase> activationSamples() {
  std::vector<OpCase> rows;
  for (const char *name : {"relu", "sigmoid", "softplus", "softsign", "mish",
                           "swish", "hard_sigmoid", "hard_swish", "leaky_relu",
                           "thresholded_relu", "elu", "celu", "selu"})
    rows.push_back({name, "", {{{2, 17}, 'f', -5, 5}}});
  // Below -3 little is left of 1 + erf; the absolute error stays at 2e-7.
  rows.push_back({"gelu", "", {{{2, 17}, 'f', -3, 3}}});
  rows.push_back({"gelu", "approximate = \"tanh\"", {{{19}, 'f', -5, 5}}});
  rows.push_back({"swish", "alpha = 1.5 : f32", {{{9}, 'f', -5, 5}}});
  rows.push_back({"elu", "alpha = 0.5 : f32", {{{9}, 'f', -5, 5}}});
  rows.push_back({"celu", "alpha = 2.0 : f32", {{{9}, 'f', -5, 5}}});
  rows.push_back({"gelu_grad", "", {{{9}}, {{9}, 'f', -5, 5}}});
  rows.push_back(
      {"gelu_grad", "approximate = \"tanh\"", {{{9}}, {{9}, 'f', -5, 5}}});
  rows.push_back({"prelu", "", {{{2, 3, 2}, 'f', -5, 5}, {{3, 1}}}});
  return rows;
}

std::vector<OpCase> movementSamples() {
  return {
      {"reshape", "shape = array<i64: 0, -1>", {{{2, 3, 4}}}},
      {"flatten", "axis = 2 : si64", {{{2, 3, 4}}}},
      {"squeeze", "", {{{1, 3, 1}}}},
      {"squeeze", "axes = array<i64: -1>", {{{1, 3, 1}}}},
      {"unsqueeze", "axes = array<i64: -1, 0>", {{{3, 2}}}},
      {"transpose", "perm = array<i64: 2, 0, 1>", {{{2, 3, 4}}}},
      {"transpose", "", {{{2, 3}}}},
      {"expand", "shape = array<i64: 2, 1, 4>", {{{3, 1}}}},
      {"tile", "repeats = array<i64: 2, 1, 3>", {{{2, 3, 2}}}},
      {"concat", "axis = -1 : si64", {{{2, 3}}, {{2, 1}}, {{2, 2}}}},
      {"concat", "axis = 0 : si64", {{{2}, 'i'}, {{3}, 'i'}}},
      {"split", "axis = 1 : si64, split = array<i64: 1, 3, 2>", {{{2, 6, 2}}}},
      {"split", "num_outputs = 3 : si64", {{{8, 2}}}},
      {"slice",
       "starts = array<i64: 1, -2>, ends = array<i64: 3, 9223372036854775807>,"
       "axes = array<i64: 0, 2>",
       {{{4, 2, 5}}}},
      {"slice",
       "starts = array<i64: 1>, ends = array<i64: 9>, axes = array<i64: 1>,"
       "steps = array<i64: 3>",
       {{{2, 9}}}},
      {"slice",
       "starts = array<i64: -1>, ends = array<i64: -9223372036854775808>,"
       "steps = array<i64: -2>",
       {{{6, 2}}}},
      {"slice_grad",
       "shape = array<i64: 7>, starts = array<i64: 5>, ends = array<i64: 0>,"
       "steps = array<i64: -2>",
       {{{3}}}},
      {"pad",
       "pads = array<i64: 1, 0, 2, 3>, constant_value = 2.5 : f32",
       {{{2, 3}}}},
      {"pad", "pads = array<i64: -1, 2>, axes = array<i64: -1>", {{{2, 3}}}},
      {"pad", "pads = array<i64: 0, 0, 1, 2, 0, 1, -1, 0>", {{{1, 2, 3, 2}}}},
      {"gather", "", {{{5, 3}}, {{2, 4}, 'i', -5, 4}}},
      {"gather", "axis = 1 : si64", {{{2, 5, 3}}, {{4}, 'i', 0, 4}}},
      {"gather", "axis = -1 : si64", {{{2, 5}}, {{}, 'i', 2, 2}}},
      {"gather_grad", "rows = 4 : si64", {{{6}, 'i', -4, 3}, {{6, 3}}}},
      {"gather_grad", "rows = 1 : si64", {{{3}, 'i', -1, 0}, {{3, 2}}}},
      {"gather_grad", "rows = 3 : si64", {{{4}, 'i', -3, 2}, {{4, 1}}}},
      {"gather_elements", "axis = 1 : si64", {{{3, 4}}, {{2, 3}, 'i', -4, 3}}},
      {"gather_elements_grad",
       "axis = 1 : si64, shape = array<i64: 3, 4>",
       {{{2, 3}, 'i', -4, 3}, {{2, 3}}}},
      {"gather_nd", "", {{{3, 4, 2}}, {{5, 2}, 'i', -3, 2}}},
      {"gather_nd",
       "batch_dims = 1 : si64",
       {{{2, 3, 4}}, {{2, 5, 1}, 'i', -3, 2}}},
      {"trilu", "", {{{2, 3, 4}}}},
      {"trilu", "upper = 0 : si64, k = 1 : si64", {{{4, 3}}}},
      {"cum_sum", "axis = 1 : si64", {{{2, 4, 3}}}},
      {"cum_sum",
       "axis = -1 : si64, exclusive = 1 : si64, reverse = 1 : si64",
       {{{3, 4}}}},
      {"iota", "shape = array<i64: 2, 3>, axis = 1 : si64", {}},
      {"shape", "start = -2 : si64", {{{2, 3, 4}}}},
      {"size", "", {{{2, 3, 4}}}},
  };
}

std::vector<OpCase> reductionSamples() {
  std::vector<OpCase> rows;
  for (const char *name :
       {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod",
        "reduce_sum_square", "reduce_l1", "reduce_l2", "reduce_log_sum",
        "reduce_log_sum_exp"}) {
    double low = llvm::StringRef(name) == "reduce_log_sum" ? 0.1 : -1;
    rows.push_back({name, "axes = array<i64: -1>", {{{3, 5}, 'f', low, 1.1}}});
    rows.push_back({name,
                    "axes = array<i64: 0, 2>, keepdims = 0 : si64",
                    {{{2, 3, 4}, 'f', low, 1.1}}});
    rows.push_back({name, "keepdims = 0 : si64", {{{2, 3}, 'f', low, 1.1}}});
    rows.push_back(
        {name, "noop_with_empty_axes = 1 : si64", {{{4}, 'f', 0.1, 1.1}}});
  }
  for (const char *name :
       {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"})
    rows.push_back({name, "axes = array<i64: 1>", {{{3, 4}, 'i', -4, 4}}});
  for (const char *name : {"arg_max", "arg_min"}) {
    rows.push_back({name, "axis = 1 : si64", {{{3, 5, 2}}}});
    rows.push_back({name,
                    "axis = -1 : si64, keepdims = 0 : si64, "
                    "select_last_index = 1 : si64",
                    {{{3, 7}, 'i', 0, 2}}});
  }
  return rows;
}

std::vector<OpCase> randomSamples() {
  return {
      {"dropout", "", {{{3, 4}}}},
      {"dropout_mask",
       "node_id = 3 : si64, ratio = 0.3 : f32, shape = array<i64: 5, 7>",
       {{{}, 'i', -7, 7}, {{1}, 'i', 2, 9}}},
  };
}

std::vector<OpCase> basicSamples() {
  std::vector<OpCase> all;
  for (auto samples :
       {elementwiseSamples(), logicSamples(), activationSamples(),
        movementSamples(), reductionSamples(), randomSamples()})
    all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

} // namespace halftone::test
