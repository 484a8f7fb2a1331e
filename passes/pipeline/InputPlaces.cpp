// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline/InputPlaces.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/Evaluate.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

/// Whether a cast leaves integers as they are.
bool keepsIntegers(CastOp cast) {
  return isa<IntegerType>(elementTypeOf(cast.getInput())) &&
         isa<IntegerType>(elementTypeOf(cast)) &&
         !elementTypeOf(cast).isInteger(1);
}

/// Whether every element of the results is one of an operand's, or a zero.
bool moves(Operation *op) {
  if (auto pad = dyn_cast<PadOp>(op))
    return numberOr(pad.getConstantValueAttr(), 0) == 0;
  return isa<IdentityOp, ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp,
             TransposeOp, ExpandOp, TileOp, ConcatOp, SplitOp, SliceOp, TriluOp,
             WhereOp, GatherOp, GatherElementsOp, GatherNDOp>(op);
}

/// The operand whose values say which elements of the others are taken.
std::optional<unsigned> choosingOperand(Operation *op) {
  if (isa<WhereOp>(op))
    return 0;
  if (isa<GatherOp, GatherElementsOp, GatherNDOp>(op))
    return 1;
  return std::nullopt;
}

std::optional<HostTensor> constantValue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? HostTensor::fromAttr(constant.getValue()) : std::nullopt;
}

} // namespace

FailureOr<InputPlaces> InputPlaces::find(ProgramOp program,
                                         ArrayRef<Value> wanted) {
  // Backwards first: a mask as large as its attention is not followed.
  DenseSet<Value> needed(wanted.begin(), wanted.end());
  Block &body = program.getBody().front();
  for (Operation &op : llvm::reverse(body)) {
    auto cast = dyn_cast<CastOp>(op);
    bool isNeeded = llvm::any_of(
        op.getResults(), [&](Value result) { return needed.contains(result); });
    if (isNeeded && (moves(&op) || (cast && keepsIntegers(cast))))
      needed.insert(op.operand_begin(), op.operand_end());
  }
  InputPlaces places;
  for (Operation &op : body) {
    if (op.getNumResults() == 0 || !needed.contains(op.getResult(0)))
      continue;
    if (auto input = dyn_cast<InputOp>(op))
      places.number(input);
    else if (failed(places.follow(&op)))
      return failure();
  }
  return places;
}

void InputPlaces::number(InputOp input) {
  if (!isa<IntegerType>(elementTypeOf(input)))
    return;
  HostTensor &tensor = numbers[input] = resultTensor(input);
  firstNumbers.emplace_back(next, input);
  for (int64_t &element : tensor.ints)
    element = next++;
}

LogicalResult InputPlaces::follow(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return numbers.contains(operand); }))
    return success();
  if (auto cast = dyn_cast<CastOp>(op)) {
    if (keepsIntegers(cast)) {
      // Not evaluated: a narrow type may not hold the numbers.
      HostTensor tensor = resultTensor(op);
      tensor.ints = numbers.at(cast.getInput()).ints;
      numbers[cast] = std::move(tensor);
    }
    return success();
  }
  if (!moves(op))
    return success();
  SmallVector<HostTensor> operands, results;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (i == choosingOperand(op)) {
      std::optional<HostTensor> value = constantValue(operand);
      if (!value)
        return success();
      operands.push_back(std::move(*value));
    } else if (auto found = numbers.find(operand); found != numbers.end()) {
      operands.push_back(found->second);
    } else {
      operands.emplace_back(cast<RankedTensorType>(operand.getType()));
    }
  }
  if (failed(cast<ReferenceOpInterface>(op).evaluate(operands, results)))
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    numbers[result] = std::move(tensor);
  return success();
}

std::optional<InputElement> InputPlaces::at(Value value, int64_t i) const {
  auto found = numbers.find(value);
  int64_t number = found == numbers.end() ? 0 : found->second.ints[i];
  if (number == 0)
    return std::nullopt;
  auto behind =
      llvm::upper_bound(firstNumbers, number, [](int64_t n, const auto &entry) {
        return n < entry.first;
      });
  auto [first, input] = *std::prev(behind);
  return InputElement{input, number - first};
}

} // namespace halftone::passes
