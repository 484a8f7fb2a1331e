// SPDX-License-Identifier: Apache-2.0
// One walk in program order: a value whose channels were put last hands that
// on to the elementwise ops and reductions that read it.
#include "passes/fuse/PutChannelsLast.h"
#include "compiler/graph/ChannelsLast.h"
#include "compiler/graph/Cleanup.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

class Layout {
public:
  explicit Layout(ProgramOp program) : block(program.getBody().front()) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
  }

private:
  void visit(Operation *op) {
    if (op->getNumResults() == 0)
      return;
    Value result = op->getResult(0);
    OriginTagger tagger(llvm::to_vector(op->getDiscardableAttrs()));
    OpBuilder builder(op, &tagger);
    ImplicitLocOpBuilder b(op->getLoc(), builder);
    if (auto channels = dyn_cast<ChannelsLastOpInterface>(op)) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(lastForm(operand));
      return replace(b, op, channels.buildChannelsLast(b, operands));
    }
    if (op->getNumResults() != 1 || rankOf(result) < 3)
      return;
    if (isa<ScalarOpInterface>(op) && readsLast(op, shapeOf(result)))
      return replace(b, op, elementwise(b, op));
    if (auto reduction = dyn_cast<ReductionOpInterface>(op);
        reduction && prefersLast.contains(op->getOperand(0))) {
      Value data = lastForm(op->getOperand(0));
      SmallVector<int64_t> axes;
      for (auto [at, axis] : llvm::enumerate(orderToEnd(rankOf(data))))
        if (llvm::is_contained(reduction.getReducedAxes(), axis))
          axes.push_back(static_cast<int64_t>(at));
      return replace(b, op, reduction.buildOver(b, data, axes));
    }
    // Windows and moves stay as they are: a kernel that computes one between
    // two transposes has its threads along the channels.
    if (isa<ElementOpInterface>(op) && readsLast(op, {}))
      prefersLast.insert(result);
  }

  /// Whether an operand of the result's rank, and of `shape` where one is
  /// given, has its channels last already or can have it for nothing.
  bool readsLast(Operation *op, ArrayRef<int64_t> shape) {
    int64_t rank = rankOf(op->getResult(0));
    return llvm::any_of(op->getOperands(), [&](Value v) {
      return rankOf(v) == rank && prefersLast.contains(v) &&
             (shape.empty() || shapeOf(v) == shape);
    });
  }

  Value elementwise(ImplicitLocOpBuilder &b, Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    int64_t rank = type.getRank();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      // What is broadcast gets the rank of the result first.
      if (rankOf(operand) < rank && numElements(shapeOf(operand)) != 1) {
        SmallVector<int64_t> shape(rank - rankOf(operand), 1);
        llvm::append_range(shape, shapeOf(operand));
        operand = b.create<ReshapeOp>(operand, shape);
      }
      operands.push_back(rankOf(operand) == rank ? lastForm(operand) : operand);
    }
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    copy->getResult(0).setType(RankedTensorType::get(
        channelsToEnd(type.getShape()), type.getElementType()));
    return copy->getResult(0);
  }

  /// `v` with its channels last; computed once, right behind `v`.
  Value lastForm(Value v) {
    if (rankOf(v) < 3)
      return v;
    Value &known = lastForms[v];
    if (known)
      return known;
    Operation *producer = v.getDefiningOp();
    OriginTagger tagger(llvm::to_vector(producer->getDiscardableAttrs()));
    OpBuilder b(v.getContext(), &tagger);
    b.setInsertionPointAfter(producer);
    return known = b.create<TransposeOp>(
               v.getLoc(), v, b.getDenseI64ArrayAttr(orderToEnd(rankOf(v))));
  }

  /// Puts `last`, the channels-last form of op's result, in its place.
  void replace(ImplicitLocOpBuilder &b, Operation *op, Value last) {
    // What is stored is not always of the type that the op would infer.
    Type stored = elementTypeOf(op->getResult(0));
    last.setType(RankedTensorType::get(shapeOf(last), stored));
    Value second = b.create<TransposeOp>(
        last, b.getDenseI64ArrayAttr(orderFromEnd(rankOf(last))));
    lastForms[second] = last;
    prefersLast.insert(second);
    op->getResult(0).replaceAllUsesWith(second);
    op->erase();
  }

  Block &block;
  llvm::DenseMap<Value, Value> lastForms;
  llvm::DenseSet<Value> prefersLast;
};

/// The transpose of `v` to its channels-last form, if there is one.
TransposeOp lastFormOf(Value v) {
  for (Operation *user : v.getUsers())
    if (auto turn = dyn_cast<TransposeOp>(user);
        turn && turn.getPerm() == ArrayRef(orderToEnd(rankOf(v))))
      return turn;
  return nullptr;
}

/// A window of which one result is wanted with its channels last gives all its
/// results so, and to those who want them otherwise, turned back: fusion makes
/// the first transposes part of the window's kernel, where they make threads
/// run along the channels, and the second part of its readers'.
void turnWindow(Operation *op) {
  auto wanted = [](Value v) { return rankOf(v) > 2 && lastFormOf(v); };
  if (llvm::none_of(op->getResults(), wanted))
    return;
  OriginTagger tagger(llvm::to_vector(op->getDiscardableAttrs()));
  OpBuilder b(op->getContext(), &tagger);
  for (Value v : op->getResults()) {
    TransposeOp last = lastFormOf(v);
    b.setInsertionPointAfter(op);
    auto turn = [&](Value from, ArrayRef<int64_t> order) {
      return b.create<TransposeOp>(op->getLoc(), from,
                                   b.getDenseI64ArrayAttr(order));
    };
    if (!last)
      last = turn(v, orderToEnd(rankOf(v)));
    last->moveAfter(op);
    b.setInsertionPointAfter(last);
    Value back = turn(last, orderFromEnd(rankOf(v)));
    v.replaceAllUsesExcept(back, last);
  }
}

} // namespace

LogicalResult putChannelsLast(ProgramOp program) {
  Layout(program).run();
  if (failed(cleanUp(program)))
    return failure();
  // Behind the cleaning up, which takes turning there and back for nothing.
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
    if (auto element = dyn_cast<ElementOpInterface>(op);
        element && !element.isIndexMap())
      turnWindow(&op);
  eraseDeadOps(program.getBody().front());
  return success();
}

} // namespace halftone::passes
