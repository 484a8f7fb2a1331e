// SPDX-License-Identifier: Apache-2.0
// What "correct" means against PyTorch, in one place (docs/architecture.md,
// section 7).
#pragma once
#include <string>

namespace halftone::tests {

/// FP32: loss and five-step losses, relative.
inline constexpr double kLossFp32 = 1e-5;
/// FP32: error of one parameter's gradient, as a share of its own norm plus a
/// share of the norm of all gradients.
inline constexpr double kGradientFp32 = 1e-5, kGradientFloorFp32 = 3e-7;
/// FP32: weights after five steps, over elements whose reference gradient
/// exceeds kLivingGradient of the largest.
inline constexpr double kWeightsFp32 = 1e-4, kLivingGradient = 1e-5;
/// Share of the products' FLOPs in the low type, so that no bound is met by
/// staying wide.
inline constexpr double kLowFlopShare = 0.95;

struct LowPrecisionBound {
  double gradient; ///< Error of all gradients, relative to their norm.
  double cosine;   ///< Between all gradients and the reference's.
  double losses;   ///< Largest deviation of five SGD and AdamW losses from the
                   ///< float32 run, as PyTorch's own was measured: absolute.
};

/// BatchNorm over a batch of four and flipped ReLU and pooling masks make the
/// resnet's gradients noisy in any implementation: PyTorch's own AMP has 0.23
/// there, and SGD (lr 0.05, the loss falls from 2.3 to 0.08 in five steps)
/// doubles that noise at every step. docs/benchmarks/resnet-loss-noise.json has
/// the losses of both over 20 starts that differ by half a BF16 ulp.
inline LowPrecisionBound lowPrecisionBound(const std::string &model,
                                           bool bf16) {
  if (model == "cnn")
    return bf16 ? LowPrecisionBound{3e-2, 0.999, 2e-2}
                : LowPrecisionBound{1e-2, 0.9999, 5e-3};
  if (model == "resnet")
    return bf16 ? LowPrecisionBound{0.35, 0.95, 8e-2}
                : LowPrecisionBound{0.2, 0.97, 4e-2};
  if (model == "digits_cnn") // three BatchNorms and a batch of eight
    return bf16 ? LowPrecisionBound{0.15, 0.99, 2e-2}
                : LowPrecisionBound{0.1, 0.995, 5e-3};
  return bf16 ? LowPrecisionBound{1.5e-2, 0.999, 5e-3}
              : LowPrecisionBound{2.5e-3, 0.9999, 1e-3};
}

} // namespace halftone::tests
