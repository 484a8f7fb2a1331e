// SPDX-License-Identifier: Apache-2.0
// One description for all normalizations, y = (x - mean) / sqrt(variance +
// epsilon) scale + bias: which view of x is normalized along which axes, and
// how scale and bias broadcast. From it come the host values, the decomposition
// and the gradient.
#pragma once
#include "compiler/graph/BroadcastShape.h"
#include "compiler/interfaces/HostTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace halftone::graph {

struct NormalizationView {
  llvm::SmallVector<int64_t> shape; ///< x is reshaped to this.
  llvm::SmallVector<int64_t> axes;  ///< The axes of a mean.
  llvm::SmallVector<int64_t>
      affine; ///< Scale and bias are reshaped to this, of the rank of `shape`.
  double epsilon;
  bool centered = true; ///< Without it the mean counts as 0 (RMS).

  /// Shape of mean and inverse deviation: `shape` with extent 1 along `axes`.
  llvm::SmallVector<int64_t> moments() const;
  /// Elements in a mean.
  int64_t count() const;
};

/// Host values of the results and the biased variance; `bias` may be null.
struct HostNormalization {
  std::vector<double> y, mean, variance, inverseDeviation;
};
HostNormalization evaluateNormalization(const NormalizationView &view,
                                        const HostTensor &x,
                                        const HostTensor &scale,
                                        const HostTensor *bias);

/// Primitives for the three results, in wide arithmetic (two passes: mean
/// first, then the mean of squared distances). `y` has the shape of `x`; the
/// moments have the view's.
struct Normalized {
  mlir::Value y, mean, inverseDeviation;
};
Normalized buildNormalization(mlir::ImplicitLocOpBuilder &b,
                              const NormalizationView &view, mlir::Value x,
                              mlir::Value scale, mlir::Value bias);

/// Gradients of x, scale and bias (null without one) from those of the results,
/// each of which may be null.
struct NormalizationSaved {
  mlir::Value x, scale, bias, mean, inverseDeviation;
};
llvm::SmallVector<mlir::Value>
buildNormalizationVjp(mlir::ImplicitLocOpBuilder &b,
                      const NormalizationView &view,
                      const NormalizationSaved &saved, mlir::Value dy,
                      mlir::Value dMean, mlir::Value dInverseDeviation);

} // namespace halftone::graph
