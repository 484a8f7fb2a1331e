// SPDX-License-Identifier: Apache-2.0
// A debugging mode: a program runs step by step, and each step's operands are
// kept as they were stored. The compiler's tests compare every step with the
// host reference this way.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/session/Session.h"

namespace halftone::runtime {

/// One step with its operands, in the order of Step::inputs and Step::outputs.
struct TracedStep {
  size_t index;
  const Step &step;
  std::vector<HostArray> inputs;  ///< Before the step.
  std::vector<HostArray> outputs; ///< After it.
};

using TraceSink = std::function<Status(const TracedStep &)>;

/// Runs the first batch of `data` (bound to the program) through all its steps,
/// the optimizer's included.
Status traceProgram(Session &session, const DataSet &data, ProgramKind program,
                    const TraceSink &sink);

/// The same into files of `folder`: 00000.safetensors and so on, one a step,
/// with tensors in.0, in.1, ..., out.0, ... and metadata step, node, phase
/// (forward|loss|backward|optimizer), kind (launch|matmul|convolution|copy),
/// kernel (of launches), inputs and outputs (the buffers' names, joined by
/// newlines).
Status writeTrace(Session &session, const DataSet &data, ProgramKind program,
                  const std::filesystem::path &folder);

/// "forward", "loss", "backward", "optimizer".
std::string_view phaseName(Phase phase);

} // namespace halftone::runtime
