// SPDX-License-Identifier: Apache-2.0
// A plan made without a compiler, out of products and copies alone: a linear
// model that trains by gradient descent, so that its numbers can be worked out
// by hand.
#pragma once

#include "runtime/plan/plan.pb.h"

namespace halftone::test {

struct LinearPlanOptions {
  int64_t batch = 2;
  int64_t features = 3;
  float learningRate = 0.5f;
  float lossScale = 1;
  bool halfGradient = false;    ///< The gradient is stored in float16.
  std::string weightsFile = {}; ///< Empty: w is drawn, normal(0, 1).
};

/// Inputs x [batch, features] and skip [1]; parameters w [features, 1] and idle
/// [2] (trainable, but the loss does not depend on it); loss = mean over the
/// rows of x w. Train: gradient of w = loss_scale * mean of the rows of x; w -=
/// learning_rate * gradient / lossScale (the initial one); step += 1; found_inf
/// = skip (the update happens whatever it says). Eval: loss and y = x w [batch,
/// 1].
proto::Plan makeLinearPlan(const LinearPlanOptions &options = {});

} // namespace halftone::test
