// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Masks.h"
#include <cmath>
#include <regex>

namespace halftone::onnx_frontend {
namespace {

/// "attn_mask", and "weight_mask" of a pruned layer, but not "mask_token".
bool isNamedMask(const std::string &name) {
  static const std::regex mask(R"(mask(:\d+)?$)", std::regex::icase);
  return std::regex_search(name, mask);
}

/// "proj.weight", "in_proj_weight", "weight_ih_l0", "dense/kernel:0". A bias
/// says nothing: GPT-2's causal mask is called one.
bool isNamedWeight(const std::string &name) {
  static const std::regex weight(
      R"((^|[._/])(weight|kernel|embedding)s?(_\w+)?(:\d+)?$)",
      std::regex::icase);
  return std::regex_search(name, weight);
}

/// Square matrices of one value above the diagonal and another below it.
bool isTriangular(const TensorContent &content) {
  size_t rank = content.shape.size();
  if (rank < 2 || content.shape[rank - 1] != content.shape[rank - 2])
    return false;
  auto n = static_cast<size_t>(content.shape.back());
  if (n < 2 || content.floats.size() < n * n)
    return false;
  float upper = content.floats[n - 1], lower = content.floats[(n - 1) * n];
  auto follows = [&](size_t i, bool diagonalIsUpper) {
    size_t row = i / n % n, column = i % n;
    bool isUpper = column > row || (column == row && diagonalIsUpper);
    return content.floats[i] == (isUpper ? upper : lower);
  };
  auto all = [&](bool diagonalIsUpper) {
    for (size_t i = 0; i < content.floats.size(); ++i)
      if (!follows(i, diagonalIsUpper))
        return false;
    return true;
  };
  return upper != lower && (all(true) || all(false));
}

/// NaN switches nothing off.
bool switchesOff(const TensorContent &content) {
  return llvm::any_of(content.floats,
                      [](float x) { return std::fabs(x) >= 1e30f; });
}

/// Few elements may well have two values by chance.
bool isTwoValued(const TensorContent &content) {
  if (content.shape.size() < 2 || content.floats.size() < 16)
    return false;
  float first = content.floats[0];
  auto second =
      llvm::find_if(content.floats, [&](float x) { return x != first; });
  return second != content.floats.end() &&
         llvm::all_of(content.floats,
                      [&](float x) { return x == first || x == *second; });
}

} // namespace

bool isMask(const Initializer &initializer, const InitializerUses &uses) {
  if (isNamedMask(initializer.name))
    return true;
  if (isNamedWeight(initializer.name))
    return false;
  const TensorContent &content = initializer.content;
  if (isTriangular(content))
    return true;
  return !reachesProduct(uses, initializer.name) &&
         (switchesOff(content) || isTwoValued(content));
}

} // namespace halftone::onnx_frontend
