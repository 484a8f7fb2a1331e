// SPDX-License-Identifier: Apache-2.0
// The data of parameters, statistics and large constants, kept beside the IR,
// which only names them.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace halftone::onnx_frontend {

enum class WeightRole {
  Trainable, ///< Has a gradient and is updated.
  Frozen,    ///< A parameter that --freeze took out of training.
  Statistic, ///< BatchNormalization's running mean or variance.
  Constant,  ///< Never changes; too large to be printed in the IR.
};

/// "trainable", "frozen", "statistic" or "constant", as `graph.parameter` has
/// it.
llvm::StringRef toString(WeightRole role);

/// How --init random draws a weight: normally distributed; a deviation of 0
/// gives the mean.
struct InitDistribution {
  double mean = 0;
  double deviation = 0;
};

struct Weight {
  /// That of the ONNX initializer, or of the value that a folded constant was.
  std::string name;
  WeightRole role = WeightRole::Trainable;
  llvm::SmallVector<int64_t> shape;
  /// Row-major; empty if `missing`. Half and double initializers are converted.
  std::vector<float> data;
  /// The file with the data was not there (allowed with --init random).
  bool missing = false;
  /// Other names of the same parameter: tied initializers, and PyTorch's other
  /// names where the export has one of several.
  std::vector<std::string> aliases;
  /// Initializers that hold its transpose.
  std::vector<std::string> transposes;
  InitDistribution init;
  /// ONNX element type in the file: "float", "float16", "bfloat16" or "double".
  std::string sourceType = "float";

  int64_t size() const;
};

/// Weights by name, in the order of the file.
class WeightStore {
public:
  /// A weight of that name must not be there yet.
  Weight &add(Weight weight);
  const Weight *find(llvm::StringRef name) const;
  Weight *find(llvm::StringRef name);
  const std::vector<Weight> &all() const { return weights; }
  std::vector<Weight> &all() { return weights; }
  size_t count(WeightRole role) const;

private:
  std::vector<Weight> weights;
  llvm::StringMap<size_t> index;
};

} // namespace halftone::onnx_frontend
