// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"
#include "compiler/graph/GraphOps.h"
#include <numeric>

using namespace mlir;

namespace halftone::graph {

LogicalResult SplitOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto axis = normalizeAxis(adaptor.getAxis(), input.getRank());
  if (failed(axis))
    return emitOptionalError(location, "axis ", adaptor.getAxis(),
                             " lies outside rank ", input.getRank());
  int64_t extent = input.getDimSize(*axis),
          count = static_cast<int64_t>(adaptor.getNumOutputs().value_or(0));
  SmallVector<int64_t> parts;
  if (adaptor.getSplit()) {
    parts.assign(adaptor.getSplit()->begin(), adaptor.getSplit()->end());
  } else if (count > 0) {
    int64_t part = (extent + count - 1) / count;
    for (int64_t rest = extent; count > 0; --count, rest -= part)
      parts.push_back(std::clamp<int64_t>(rest, 0, part));
  } else {
    return emitOptionalError(location, "needs split or num_outputs");
  }
  if (std::accumulate(parts.begin(), parts.end(), int64_t(0)) != extent ||
      llvm::any_of(parts, [](int64_t n) { return n < 0; }))
    return emitOptionalError(location, "parts [", parts,
                             "] do not add up to the extent ", extent,
                             " of axis ", *axis);
  for (int64_t part : parts) {
    SmallVector<int64_t> shape(input.getShape());
    shape[*axis] = part;
    types.push_back(RankedTensorType::get(shape, input.getElementType()));
  }
  return success();
}

LogicalResult SplitOp::evaluate(ArrayRef<HostTensor> operands,
                                SmallVectorImpl<HostTensor> &results) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getInput())), begin = 0;
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(getInput()));
  for (unsigned k = 0; k < getNumResults(); ++k) {
    HostTensor out = resultTensor(*this, k);
    SmallVector<int64_t> index(out.getRank(), 0);
    for (int64_t i = 0; i < out.size(); ++i) {
      int64_t from = begin * strides[axis];
      for (auto [d, stride] : llvm::enumerate(strides))
        from += index[d] * stride;
      if (out.isFloat())
        out.floats[i] = operands[0].floats[from];
      else
        out.ints[i] = operands[0].ints[from];
      nextIndex(index, out.getShape());
    }
    begin += out.getShape()[axis];
    results.push_back(std::move(out));
  }
  return success();
}

Value SplitOp::emitElement(ElementBuilder &b, unsigned result,
                           ValueRange index) {
  int64_t axis = *normalizeAxis(getAxis(), rankOf(getInput())), begin = 0;
  for (Value before : getOutputs().take_front(result))
    begin += shapeOf(before)[axis];
  SmallVector<Value> source(index);
  if (begin)
    source[axis] = b.add(index[axis], b.constantIndex(begin));
  return b.load(0, source);
}

// Parts that the loss does not depend on are zeros.
SmallVector<Value> SplitOp::buildVjp(ImplicitLocOpBuilder &b,
                                     ValueRange grads) {
  SmallVector<Value> parts;
  Type type = elementTypeOf(
      *llvm::find_if(grads, [](Value g) { return static_cast<bool>(g); }));
  for (auto [output, grad] : llvm::zip_equal(getOutputs(), grads))
    parts.push_back(grad ? grad : full(b, shapeOf(output), type, 0));
  return {b.create<ConcatOp>(parts, getAxis())};
}

} // namespace halftone::graph
