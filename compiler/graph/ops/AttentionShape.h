// SPDX-License-Identifier: Apache-2.0
// The extents of an attention op in its 3-D and 4-D forms.
#pragma once
#include "compiler/graph/GraphOps.h"

namespace halftone::graph {

struct AttentionShape {
  int64_t batch, queryHeads, keyHeads, queries, past,
      keys;                ///< `keys` includes the past.
  int64_t size, valueSize; ///< Features of a head in Q and K, and in V.
  bool flat;    ///< 3-D: heads lie beside each other in the last axis.
  double scale; ///< Of Q K^T; FP32 precision.
};

/// Fails, with a message at `location`, where operands or head counts do not
/// fit.
llvm::FailureOr<AttentionShape>
attentionShape(std::optional<mlir::Location> location, AttentionOp::Adaptor op);
AttentionShape attentionShape(AttentionOp op);

} // namespace halftone::graph
