// SPDX-License-Identifier: Apache-2.0
// One forward and backward pass, without an update.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/session/Session.h"

namespace halftone::runtime {

struct Gradients {
  double scale = 1; ///< The loss scale that was used in the end.
  /// "loss", and "grad.NAME" for each trainable parameter in its own shape:
  /// float32, unscaled; zeros where the loss does not depend on it.
  ArrayMap arrays;
};

/// Takes the first batch of `data`, bound to the train program. Where gradients
/// overflow at the plan's loss scale, the scale is halved until all are finite;
/// fails with StatusCode::NonFinite where none helps. Leaves weights as they
/// were.
Result<Gradients> computeGradients(Session &session, const DataSet &data,
                                   const NoticeSink &notice);

} // namespace halftone::runtime
