// SPDX-License-Identifier: Apache-2.0
// Known tensors, kept small and kept once: masks of a batch are usually one
// mask, and every layer computes the same one.
#pragma once
#include "compiler/interfaces/HostTensor.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>
#include <unordered_map>

namespace halftone::onnx_frontend {

/// A tensor with extent 1 along each axis in which all its slices are equal.
/// Small tensors are left alone.
HostTensor shrink(HostTensor tensor);

/// NumPy broadcasting to `shape`, of the same or a higher rank.
HostTensor broadcastTo(const HostTensor &tensor, llvm::ArrayRef<int64_t> shape);

class ConstantPool {
public:
  /// The one tensor with the type and content of the shrunk `tensor`.
  std::shared_ptr<const HostTensor>
  intern(const std::shared_ptr<const HostTensor> &tensor);

private:
  llvm::DenseSet<const HostTensor *> known;
  std::unordered_multimap<size_t, std::shared_ptr<const HostTensor>> tensors;
};

} // namespace halftone::onnx_frontend
