// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/ops/ModelSamples.h"

namespace halftone::test {

std::vector<Operand> attentionOperands(std::vector<Operand> given) {
  given.resize(7, kAbsent);
  return given;
}

std::vector<Operand> batchNormOperands(std::vector<int64_t> shape) {
  Operand channels{{shape[1]}}, variance{{shape[1]}, 'f', 0.5, 2};
  return {Operand{shape}, channels, channels, channels, variance};
}

std::vector<OpCase> productSamples() {
  Operand q{{2, 4, 3, 2}}, k{{2, 2, 5, 2}}, v{{2, 2, 5, 3}},
      ids{{2, 3}, 'i', 0, 6};
  return {
      {"matmul", "", {{{3, 4}}, {{4, 5}}}},
      {"matmul", "", {{{2, 3, 4}}, {{4, 5}}}},
      {"matmul", "transpose_b = true", {{{2, 3, 4}}, {{2, 5, 4}}}},
      {"matmul", "", {{{2, 3, 4}}, {{2, 4, 5}}, {{5}}}},
      {"matmul", "transpose_b = true", {{{2, 3, 4}}, {{5, 4}}, {{5}}}},
      {"matmul", "transpose_a = true", {{{4, 3}}, {{2, 4, 5}}}},
      {"matmul",
       "transpose_a = true, transpose_b = true",
       {{{2, 1, 4, 3}}, {{1, 3, 5, 4}}}},
      {"gemm", "", {{{3, 4}}, {{4, 5}}, kAbsent}},
      {"gemm", "transA = 1 : si64", {{{4, 3}}, {{4, 5}}, {{3, 1}}}},
      {"gemm",
       "transA = 1 : si64, transB = 1 : si64, alpha = 0.25 : f32, beta = 2.0 : "
       "f32",
       {{{4, 3}}, {{5, 4}}, {{}}}},
      {"gemm", "beta = 0.0 : f32", {{{3, 4}}, {{4, 5}}, {{5}}}},
      {"attention", "", attentionOperands({q, k, v})},
      {"attention",
       "is_causal = 1 : si64, scale = 0.5 : f32, qk_matmul_output_mode = 2 : "
       "si64",
       attentionOperands({q, k, v})},
      {"attention", "softcap = 2.0 : f32, qk_matmul_output_mode = 1 : si64",
       attentionOperands({q, k, v, {{3, 5}}})},
      {"attention", "qk_matmul_output_mode = 3 : si64",
       attentionOperands({q, k, v, {{2, 1, 3, 4}, 'b'}})},
      {"attention", "is_causal = 1 : si64",
       attentionOperands(
           {q, k, v, {{2, 4, 1, 8}}, {{2, 2, 3, 2}}, {{2, 2, 3, 3}}})},
      {"attention", "is_causal = 1 : si64, left_window_size = 1 : si64",
       attentionOperands(
           {q, k, v, kAbsent, kAbsent, kAbsent, {{2}, 'i', 1, 5}})},
      {"attention", "left_window_size = 0 : si64, right_window_size = 1 : si64",
       attentionOperands({{{1, 1, 5, 2}}, {{1, 1, 2, 2}}, {{1, 1, 2, 2}}})},
      {"attention",
       "q_num_heads = 4 : si64, kv_num_heads = 2 : si64, is_causal = 1 : si64",
       attentionOperands({{{2, 3, 8}}, {{2, 5, 4}}, {{2, 5, 6}}, {{5}, 'b'}})},
      {"rotary_embedding",
       "",
       {{{2, 2, 3, 8}}, {{2, 3, 4}}, {{2, 3, 4}}, kAbsent}},
      {"rotary_embedding",
       "interleaved = 1 : si64",
       {{{2, 2, 3, 8}}, {{7, 4}}, {{7, 4}}, ids}},
      {"rotary_embedding",
       "num_heads = 2 : si64, rotary_embedding_dim = 4 : si64",
       {{{2, 3, 12}}, {{7, 2}}, {{7, 2}}, ids}},
      {"rotary_embedding",
       "num_heads = 2 : si64, rotary_embedding_dim = 4 : si64, interleaved = 1 "
       ": si64",
       {{{2, 3, 12}}, {{7, 2}}, {{7, 2}}, ids}},
  };
}

std::vector<OpCase> convolutionSamples() {
  return {
      {"conv", "", {{{2, 3, 5}}, {{4, 3, 3}}, kAbsent}},
      {"conv", "", {{{2, 3, 4, 5}}, {{2, 3, 3, 2}}, {{2}}}},
      {"conv",
       "pads = array<i64: 1, 2, 0, 1>, strides = array<i64: 2, 3>",
       {{{1, 2, 5, 7}}, {{3, 2, 3, 2}}, kAbsent}},
      {"conv",
       "group = 3 : si64, dilations = array<i64: 2, 1>",
       {{{1, 3, 6, 3}}, {{6, 1, 2, 2}}, kAbsent}},
      {"conv",
       R"(auto_pad = "SAME_LOWER", strides = array<i64: 2, 2>)",
       {{{1, 1, 5, 4}}, {{2, 1, 3, 2}}, kAbsent}},
      {"conv",
       "pads = array<i64: 0, 1, 0, 1, 0, 0>",
       {{{1, 2, 3, 2, 3}}, {{2, 2, 2, 2, 1}}, kAbsent}},
      {"conv_data_gradient",
       "shape = array<i64: 1, 4, 5, 6>, strides = array<i64: 2, 1>, pads = "
       "array<i64: 1, 0, 0, 1>, "
       "dilations = array<i64: 1, 2>, group = 2 : si64",
       {{{1, 2, 3, 5}}, {{2, 2, 2, 2}}}},
      {"conv_weight_gradient",
       "shape = array<i64: 2, 2, 2, 2>, strides = array<i64: 2, 1>, pads = "
       "array<i64: 1, 0, 0, 1>, "
       "dilations = array<i64: 1, 2>, group = 2 : si64",
       {{{1, 4, 5, 6}}, {{1, 2, 3, 5}}}},
      {"conv", "", {{{2, 3, 4, 5}}, {{4, 3, 1, 1}}, {{4}}}},
      {"conv_data_gradient",
       "shape = array<i64: 2, 3, 4>, strides = array<i64: 1>, pads = "
       "array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : si64",
       {{{2, 5, 4}}, {{5, 3, 1}}}},
      {"conv_weight_gradient",
       "shape = array<i64: 5, 3, 1>, strides = array<i64: 1>, pads = "
       "array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : si64",
       {{{2, 3, 4}}, {{2, 5, 4}}}},
      {"conv",
       "channels_last = true, group = 2 : si64, strides = array<i64: 2, 1>",
       {{{2, 5, 4, 4}}, {{6, 3, 2, 2}}, {{6}}}},
  };
}

// The indices of max_pool_grad must name elements of their window: here each
// window covers the whole plane.
std::vector<OpCase> poolSamples() {
  return {
      {"max_pool", "kernel_shape = array<i64: 2>", {{{2, 3, 5}}}},
      {"max_pool",
       "kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = "
       "array<i64: 1, 0, 2, 1>",
       {{{2, 2, 5, 6}}}},
      {"max_pool",
       "kernel_shape = array<i64: 2, 3>, dilations = array<i64: 2, 1>, strides "
       "= array<i64: 1, 2>, ceil_mode = 1 : si64",
       {{{1, 2, 5, 6}}}},
      {"max_pool",
       R"(kernel_shape = array<i64: 3, 3>, auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>, storage_order = 1 : si64)",
       {{{1, 2, 5, 4}}}},
      {"max_pool", "kernel_shape = array<i64: 2, 1, 2>", {{{1, 1, 3, 2, 4}}}},
      {"max_pool_grad",
       "shape = array<i64: 1, 1, 2, 2>, kernel_shape = array<i64: 3, 3>, "
       "strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = "
       "array<i64: 1, 1>, storage_order = 0 : si64",
       {{{1, 1, 2, 2}, 'i', 0, 3}, {{1, 1, 2, 2}}}},
      {"max_pool_grad",
       "shape = array<i64: 1, 1, 2, 3>, kernel_shape = array<i64: 2, 3>, "
       "strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = "
       "array<i64: 1, 1>, storage_order = 1 : si64",
       {{{1, 1, 1, 1}, 'i', 0, 5}, {{1, 1, 1, 1}}}},
      {"average_pool", "kernel_shape = array<i64: 2>", {{{2, 3, 5}}}},
      {"average_pool",
       "kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = "
       "array<i64: 1, 0, 2, 1>",
       {{{2, 2, 5, 6}}}},
      {"average_pool",
       "kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 3>, pads = "
       "array<i64: 1, 1, 1, 1>, ceil_mode = 1 : si64, "
       "count_include_pad = 1 : si64",
       {{{1, 2, 5, 7}}}},
      {"average_pool",
       "kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 3>, pads = "
       "array<i64: 1, 0, 0, 2>",
       {{{1, 1, 5, 6}}}},
      {"average_pool",
       R"(kernel_shape = array<i64: 2, 2, 2>, auto_pad = "SAME_LOWER")",
       {{{1, 1, 3, 2, 3}}}},
      {"average_pool_grad",
       "shape = array<i64: 2, 1, 5, 6>, kernel_shape = array<i64: 3, 2>, "
       "strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 1>, dilations = "
       "array<i64: 1, 2>, count_include_pad = 0 : si64",
       {{{2, 1, 3, 5}}}},
      {"average_pool_grad",
       "shape = array<i64: 1, 2, 5>, kernel_shape = array<i64: 3>, strides = "
       "array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, "
       "count_include_pad = 1 : si64",
       {{{1, 2, 3}}}},
      {"global_average_pool", "", {{{2, 3, 4, 5}}}},
      {"global_max_pool", "", {{{2, 3, 4, 5}}}},
  };
}

std::vector<OpCase> normalizationSamples() {
  auto batchNorm = [](const char *attributes,
                      const std::vector<int64_t> &shape) {
    return OpCase{"batch_normalization",
                  attributes,
                  batchNormOperands(shape),
                  {3, 4},
                  {1, 2, 3, 4}};
  };
  return {
      {"softmax", "", {{{3, 5}, 'f', -3, 3}}},
      {"softmax", "axis = 1 : si64", {{{2, 4, 3}}}},
      {"softmax", "axis = 0 : si64", {{{7}}}},
      {"log_softmax", "", {{{3, 5}, 'f', -3, 3}}},
      {"log_softmax", "axis = -2 : si64", {{{2, 4, 3}}}},
      {"layer_normalization", "", {{{3, 5}}, {{5}}, {{5}}}},
      {"layer_normalization",
       "axis = 1 : si64, epsilon = 0.1 : f32",
       {{{2, 3, 4}}, {{3, 4}}, {{3, 4}}}},
      {"layer_normalization",
       "axis = -1 : si64",
       {{{2, 3, 4}}, {{3, 1}}, kAbsent}},
      {"layer_normalization", "axis = 0 : si64", {{{2, 3}}, {{1}}, kAbsent}},
      {"rms_normalization", "", {{{3, 5}}, {{5}}}},
      {"rms_normalization",
       "axis = 1 : si64, epsilon = 0.1 : f32",
       {{{2, 3, 4}}, {{3, 4}}}},
      {"instance_normalization", "", {{{2, 3, 5}}, {{3}}, {{3}}}},
      {"instance_normalization",
       "epsilon = 0.1 : f32",
       {{{1, 2, 3, 4}}, {{2}}, {{2}}}},
      {"group_normalization",
       "num_groups = 3 : si64",
       {{{2, 6, 3}}, {{6}}, {{6}}}},
      {"group_normalization",
       "num_groups = 2 : si64, opset = 18 : si64",
       {{{2, 4, 2, 3}}, {{2}}, {{2}}}},
      {"group_normalization",
       "num_groups = 1 : si64",
       {{{3, 4}}, {{4}}, {{4}}}},
      batchNorm("training_mode = 1 : si64", {3, 2, 2}),
      batchNorm(
          "training_mode = 1 : si64, epsilon = 0.1 : f32, momentum = 0.5 : f32",
          {2, 3, 3, 2}),
      batchNorm("training_mode = 1 : si64", {5, 3}),
      batchNorm("", {3, 2, 2}),
      batchNorm("", {2, 3, 3, 2}),
  };
}

std::vector<OpCase> lossSamples() {
  Operand scores{{2, 3, 4}}, target{{2, 4}, 'i', 0, 2},
      weight{{3}, 'f', 0.5, 2};
  std::vector<OpCase> rows{
      {"cross_entropy", "", {{{4, 5}, 'f', -3, 3}, {{4}, 'i', 0, 4}}},
      {"cross_entropy",
       "ignore_index = 1 : si64",
       {{{2, 7, 3}}, {{2, 7}, 'i', 0, 2}}},
      {"cross_entropy",
       "axis = 1 : si64, ignore_index = 0 : si64",
       {{{2, 3, 2, 4}}, {{2, 2, 4}, 'i', 0, 2}}},
      {"negative_log_likelihood_loss", "", {scores, target, kAbsent}},
      {"negative_log_likelihood_loss",
       R"(reduction = "none", ignore_index = 1 : si64)",
       {scores, target, weight},
       {2}},
      {"negative_log_likelihood_loss",
       R"(reduction = "sum")",
       {scores, target, weight},
       {2}},
      {"negative_log_likelihood_loss",
       "ignore_index = 2 : si64",
       {scores, target, weight},
       {2}},
      {"softmax_cross_entropy_loss",
       "ignore_index = 2 : si64",
       {scores, target, weight}},
      {"softmax_cross_entropy_loss",
       R"(reduction = "none")",
       {scores, target, kAbsent}},
  };
  Operand x{{3, 2, 2}, 'f', -4, 4}, t{{3, 2, 2}, 'f', 0, 1},
      rowWeight{{3}, 'f', 0.5, 1};
  for (const char *name : {"mse_loss", "l1_loss", "bce_with_logits_loss"}) {
    rows.push_back({name, "", {x, t, kAbsent}});
    rows.push_back({name, "", {x, t, rowWeight}, {2}});
  }
  return rows;
}

std::vector<OpCase> modelSamples() {
  std::vector<OpCase> all;
  for (auto samples : {productSamples(), convolutionSamples(), poolSamples(),
                       normalizationSamples(), lossSamples()})
    all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

} // namespace halftone::test
