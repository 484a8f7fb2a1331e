// SPDX-License-Identifier: Apache-2.0
// Running the eval program over a data set: loss and accuracy, or the outputs
// themselves.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/session/Session.h"

namespace halftone::runtime {

struct EvalResult {
  double loss = 0; ///< Mean over everything that counts.
  std::optional<double>
      accuracy; ///< cross_entropy over class indices: the share of labels that
                ///< are the largest logit.
  uint64_t count = 0; ///< What counts: labels that are not ignored, or target
                      ///< elements, or rows.
  int64_t rows = 0;
  std::string noLoss; ///< Where the loss is not finite: why, for the user.
};

/// Evaluates all rows in order; a short last batch is masked, or dropped with a
/// notice where the plan cannot mask. `data` is bound to the eval program.
Result<EvalResult> evaluate(Session &session, const DataSet &data,
                            const NoticeSink &notice);

/// The eval program's outputs but "loss", by name, for all rows in order.
/// `data` may lack targets.
Result<ArrayMap> predict(Session &session, const DataSet &data,
                         const NoticeSink &notice);

/// Counts labels and how many of them are the largest logit along `classAxis`
/// (may be negative); labels equal to `ignored`, and those outside the classes,
/// do not count. Logits are any float type; labels int32 or int64, of the
/// logits' shape without the class axis. Ties go to the lowest class.
struct LabelCount {
  uint64_t labels = 0, correct = 0;
};
LabelCount countCorrect(const HostArray &logits, const HostArray &labels,
                        int64_t classAxis, std::optional<int64_t> ignored);

} // namespace halftone::runtime
