// SPDX-License-Identifier: Apache-2.0
// How the nodes of a graph use its initializers.
#pragma once
#include "onnx/onnx_pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace halftone::onnx_frontend {

struct InitializerUse {
  const onnx::NodeProto *node;
  int input;
};
using InitializerUses = llvm::StringMap<llvm::SmallVector<InitializerUse, 2>>;

InitializerUses collectUses(const onnx::GraphProto &graph);

/// Running mean (0) or variance (1) of a BatchNormalization; -1 otherwise.
int statisticKind(llvm::ArrayRef<InitializerUse> uses);

/// Read as the table of an embedding.
bool isEmbeddingTable(llvm::ArrayRef<InitializerUse> uses);

/// Read as the weights of a matrix product or a convolution.
bool isMatrix(llvm::ArrayRef<InitializerUse> uses);

/// Whether the value is a factor of a matrix product, a convolution or a
/// recurrent layer: as it is, in part, or in another shape, order or type.
bool reachesProduct(const InitializerUses &uses, llvm::StringRef name);

/// Multiplies its argument elementwise: the scale of a normalization, written
/// out or not.
bool isScale(llvm::ArrayRef<InitializerUse> uses);

} // namespace halftone::onnx_frontend
