// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Weights.h"
#include "llvm/ADT/STLExtras.h"

namespace halftone::onnx_frontend {

llvm::StringRef toString(WeightRole role) {
  switch (role) {
  case WeightRole::Trainable:
    return "trainable";
  case WeightRole::Frozen:
    return "frozen";
  case WeightRole::Statistic:
    return "statistic";
  case WeightRole::Constant:
    return "constant";
  }
  return "";
}

int64_t Weight::size() const {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

Weight &WeightStore::add(Weight weight) {
  index[weight.name] = weights.size();
  return weights.emplace_back(std::move(weight));
}

const Weight *WeightStore::find(llvm::StringRef name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &weights[found->second];
}

Weight *WeightStore::find(llvm::StringRef name) {
  return const_cast<Weight *>(
      static_cast<const WeightStore *>(this)->find(name));
}

size_t WeightStore::count(WeightRole role) const {
  return llvm::count_if(weights,
                        [&](const Weight &w) { return w.role == role; });
}

} // namespace halftone::onnx_frontend
