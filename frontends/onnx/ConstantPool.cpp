// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/ConstantPool.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>

namespace halftone::onnx_frontend {
namespace {

constexpr int64_t kSmallElements = 256;

template <typename T> llvm::StringRef bytesOf(const std::vector<T> &data) {
  return {reinterpret_cast<const char *>(data.data()), data.size() * sizeof(T)};
}

/// A row-major tensor seen as [outer, extent, inner].
struct AxisView {
  int64_t outer = 1, extent, inner = 1;
  AxisView(llvm::ArrayRef<int64_t> shape, size_t axis) : extent(shape[axis]) {
    for (size_t d = 0; d < axis; ++d)
      outer *= shape[d];
    for (size_t d = axis + 1; d < shape.size(); ++d)
      inner *= shape[d];
  }
};

template <typename T>
bool slicesAreEqual(const std::vector<T> &data, const AxisView &view) {
  for (int64_t o = 0; o < view.outer; ++o) {
    const T *first = data.data() + o * view.extent * view.inner;
    for (int64_t i = 1; i < view.extent; ++i)
      if (std::memcmp(first, first + i * view.inner, view.inner * sizeof(T)) !=
          0)
        return false;
  }
  return true;
}

template <typename T>
std::vector<T> firstSlices(const std::vector<T> &data, const AxisView &view) {
  std::vector<T> out;
  out.reserve(view.outer * view.inner);
  for (int64_t o = 0; o < view.outer; ++o) {
    auto first = data.begin() + o * view.extent * view.inner;
    out.insert(out.end(), first, first + view.inner);
  }
  return out;
}

template <typename T>
bool shrinkAxis(std::vector<T> &data, const AxisView &view) {
  if (!slicesAreEqual(data, view))
    return false;
  data = firstSlices(data, view);
  return true;
}

} // namespace

HostTensor shrink(HostTensor tensor) {
  if (tensor.size() <= kSmallElements)
    return tensor;
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  bool isFloat = tensor.isFloat();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    AxisView view(shape, axis);
    if (view.extent > 1 && (isFloat ? shrinkAxis(tensor.floats, view)
                                    : shrinkAxis(tensor.ints, view)))
      shape[axis] = 1;
  }
  if (tensor.getShape() == llvm::ArrayRef<int64_t>(shape))
    return tensor;
  HostTensor small(mlir::RankedTensorType::get(shape, tensor.getElementType()));
  small.floats = std::move(tensor.floats);
  small.ints = std::move(tensor.ints);
  return small;
}

HostTensor broadcastTo(const HostTensor &tensor,
                       llvm::ArrayRef<int64_t> shape) {
  if (tensor.getShape() == shape)
    return tensor;
  HostTensor out(mlir::RankedTensorType::get(shape, tensor.getElementType()));
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    int64_t from = broadcastOffset(index, tensor.getShape());
    if (out.isFloat())
      out.floats[i] = tensor.floats[from];
    else
      out.ints[i] = tensor.ints[from];
    nextIndex(index, shape);
  }
  return out;
}

std::shared_ptr<const HostTensor>
ConstantPool::intern(const std::shared_ptr<const HostTensor> &tensor) {
  if (known.contains(tensor.get()))
    return tensor;
  auto small = std::make_shared<const HostTensor>(shrink(*tensor));
  llvm::StringRef floats = bytesOf(small->floats), ints = bytesOf(small->ints);
  size_t hash =
      llvm::hash_combine(small->getType().getAsOpaquePointer(),
                         llvm::hash_value(floats), llvm::hash_value(ints));
  auto [begin, end] = tensors.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry)
    if (entry->second->getType() == small->getType() &&
        bytesOf(entry->second->floats) == floats &&
        bytesOf(entry->second->ints) == ints)
      return entry->second;
  known.insert(small.get());
  return tensors.emplace(hash, std::move(small))->second;
}

} // namespace halftone::onnx_frontend
