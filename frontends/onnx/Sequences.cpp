// SPDX-License-Identifier: Apache-2.0
// Sequences exist only at import: their elements are known one by one.
#include "frontends/onnx/NodeImporter.h"

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

std::optional<int64_t> normalize(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

} // namespace

NodeImporter::Results NodeImporter::importSequence(const Node &node,
                                                   Resolved kind) {
  if (kind == Resolved::SplitToSequence)
    return splitToSequence(node);
  if (kind == Resolved::SequenceEmpty)
    return SmallVector<Imported>{std::vector<Imported>()};
  if (kind == Resolved::SequenceConstruct) {
    std::vector<Imported> elements;
    for (const Imported *input : node.inputs)
      elements.push_back(*input);
    return SmallVector<Imported>{std::move(elements)};
  }
  if (!node.input(0) || !node.input(0)->sequence)
    return fail(node, "the input is no sequence");
  if (kind == Resolved::ConcatFromSequence)
    return concatFromSequence(node);
  std::vector<Imported> elements = *node.input(0)->sequence;
  int64_t size = static_cast<int64_t>(elements.size());
  if (kind == Resolved::SequenceLength) {
    HostTensor length(RankedTensorType::get({}, IntegerType::get(context, 64)));
    length.ints[0] = size;
    return SmallVector<Imported>{std::move(length)};
  }

  // The rest take a position: of an element, or for Insert of a gap.
  bool inserts = kind == Resolved::SequenceInsert;
  size_t operand = inserts ? 2 : 1;
  int64_t position = inserts ? size : size - 1;
  if (node.input(operand)) {
    auto given = constantInts(node, operand);
    if (!given || given->size() != 1)
      return fail(node, "the position must be one constant");
    position = given->front();
  }
  std::optional<int64_t> index =
      inserts && position == size ? size : normalize(position, size);
  if (!index)
    return fail(node, "position " + Twine(position) +
                          " is outside the sequence of " + Twine(size));
  if (kind == Resolved::SequenceAt)
    return SmallVector<Imported>{elements[*index]};
  if (inserts)
    elements.insert(elements.begin() + *index, *node.input(1));
  else
    elements.erase(elements.begin() + *index);
  return SmallVector<Imported>{std::move(elements)};
}

/// The pieces' extents along an axis: all 1 without `split`, a scalar's value
/// each (the last may be shorter), or the given ones.
static std::vector<int64_t> pieceExtents(const Imported *split,
                                         int64_t extent) {
  if (!split)
    return std::vector<int64_t>(extent, 1);
  if (split->type().getRank() == 1)
    return split->hostTensor().ints;
  std::vector<int64_t> pieces;
  int64_t chunk = split->constant->ints[0];
  for (int64_t at = 0; chunk > 0 && at < extent; at += chunk)
    pieces.push_back(std::min(chunk, extent - at));
  return pieces;
}

NodeImporter::Results NodeImporter::splitToSequence(const Node &node) {
  const Imported &tensor = *node.input(0), *split = node.input(1);
  if (!tensor.isTensor() || (split && !constantInts(node, 1)))
    return fail(node, "the input is no tensor, or the split no constant");
  ArrayRef<int64_t> shape = tensor.type().getShape();
  std::optional<int64_t> axis =
      normalize(node.integer("axis", 0), static_cast<int64_t>(shape.size()));
  if (!axis)
    return fail(node, "the axis is outside the tensor's rank");
  std::vector<int64_t> extents = pieceExtents(split, shape[*axis]);
  int64_t sum = 0;
  for (int64_t extent : extents)
    sum = extent < 0 ? -1 : sum + extent;
  if (sum != shape[*axis])
    return fail(node, "the pieces do not add up to the axis of " +
                          Twine(shape[*axis]));

  Builder b(context);
  SmallVector<NamedAttribute> attributes{
      b.getNamedAttr("axis",
                     b.getIntegerAttr(b.getIntegerType(64, true), *axis)),
      b.getNamedAttr("split", b.getDenseI64ArrayAttr(extents))};
  SmallVector<Imported> pieces{tensor};
  if (extents.size() > 1) {
    auto emitted = emitter.emit(node.loc, "split",
                                {SmallVector<Imported>{tensor}}, attributes);
    if (mlir::failed(emitted))
      return std::nullopt;
    pieces = std::move(*emitted);
  }
  bool squeezes = !split && node.integer("keepdims", 1) == 0;
  std::vector<Imported> elements;
  for (const Imported &piece : pieces) {
    SmallVector<int64_t> squeezed(piece.type().getShape());
    if (squeezes)
      squeezed.erase(squeezed.begin() + *axis);
    auto element = emitter.reshape(node.loc, piece, squeezed);
    if (mlir::failed(element))
      return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return SmallVector<Imported>{std::move(elements)};
}

NodeImporter::Results NodeImporter::concatFromSequence(const Node &node) {
  const std::vector<Imported> &sequence = *node.input(0)->sequence;
  SmallVector<Imported> parts(sequence.begin(), sequence.end());
  if (parts.empty() || !llvm::all_of(parts, [](const Imported &part) {
        return part.isTensor();
      }))
    return fail(node, "the sequence is empty or holds sequences");
  bool stacks = node.integer("new_axis", 0) != 0;
  std::optional<int64_t> axis =
      normalize(node.integer("axis", 0), parts[0].type().getRank() + stacks);
  if (!axis)
    return fail(node, "the axis is outside the tensors' rank");
  for (Imported &part : parts) {
    SmallVector<int64_t> shape(part.type().getShape());
    if (stacks && *axis <= static_cast<int64_t>(shape.size()))
      shape.insert(shape.begin() + *axis, 1);
    auto reshaped = emitter.reshape(node.loc, part, shape);
    if (mlir::failed(reshaped))
      return std::nullopt;
    part = std::move(*reshaped);
  }
  Builder b(context);
  return emitter.emit(
      node.loc, "concat", {parts},
      {b.getNamedAttr("axis",
                      b.getIntegerAttr(b.getIntegerType(64, true), *axis))});
}

} // namespace halftone::onnx_frontend
