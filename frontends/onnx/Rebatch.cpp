// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Rebatch.h"
#include "compiler/graph/GraphDialect.h"

using namespace mlir;

namespace halftone::onnx_frontend {
namespace {

/// The dimension of a value that follows the batch.
struct BatchAxis {
  bool consistent = true;
  std::optional<unsigned> axis;
  /// Elements of the dimensions before it.
  int64_t outer = 1;
};

BatchAxis compareTypes(Type oldType, Type newType, int64_t oldBatch,
                       int64_t newBatch) {
  ArrayRef<int64_t> a = cast<RankedTensorType>(oldType).getShape(),
                    b = cast<RankedTensorType>(newType).getShape();
  BatchAxis result;
  if (a.size() != b.size())
    return {false, {}, 1};
  for (unsigned d = 0; d < a.size(); ++d) {
    if (a[d] == b[d]) {
      result.outer *= result.axis ? 1 : a[d];
      continue;
    }
    if (result.axis || a[d] % oldBatch || b[d] % newBatch ||
        a[d] / oldBatch != b[d] / newBatch)
      return {false, {}, 1};
    result.axis = d;
  }
  return result;
}

std::string nodeName(Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  return (name ? name.getName().str() : "?") + " (" +
         op->getName().stripDialect().str() + ")";
}

class Comparison {
public:
  Comparison(int64_t oldBatch, int64_t newBatch)
      : oldBatch(oldBatch), newBatch(newBatch) {}

  bool agrees(Operation &oldOp, Operation &newOp) {
    if (oldOp.getName() != newOp.getName() ||
        oldOp.getNumResults() != newOp.getNumResults() ||
        oldOp.getNumOperands() != newOp.getNumOperands())
      return false;
    std::optional<int64_t> outer;
    bool carriesBatch = false;
    for (auto [a, b] :
         llvm::zip_equal(oldOp.getOperandTypes(), newOp.getOperandTypes())) {
      BatchAxis axis = compareTypes(a, b, oldBatch, newBatch);
      if (!axis.axis)
        continue;
      carriesBatch = true;
      outer = axis.outer;
    }
    for (unsigned i = 0; i < oldOp.getNumResults(); ++i) {
      Type a = oldOp.getResult(i).getType(), b = newOp.getResult(i).getType();
      BatchAxis axis = compareTypes(a, b, oldBatch, newBatch);
      if (!axis.consistent)
        return false;
      // Results after the first are statistics, a scalar is a loss; otherwise
      // only a reduction ends the batch.
      bool mayEnd = i > 0 || isa<ReductionOpInterface>(oldOp) ||
                    cast<RankedTensorType>(a).getRank() == 0;
      if (carriesBatch && !axis.axis && !mayEnd)
        return false;
      if (axis.axis && outer &&
          isa_and_present<graph::GraphDialect>(oldOp.getDialect()) &&
          oldOp.getName().stripDialect() == "reshape" && axis.outer != *outer)
        return false;
    }
    return true;
  }

private:
  int64_t oldBatch, newBatch;
};

Block &bodyOf(ModuleOp module) {
  return (*module.getOps<graph::ProgramOp>().begin()).getBody().front();
}

} // namespace

std::vector<std::string> findBatchDependence(ModuleOp oldProgram,
                                             ModuleOp newProgram,
                                             int64_t oldBatch,
                                             int64_t newBatch) {
  std::vector<std::string> nodes;
  Comparison comparison(oldBatch, newBatch);
  auto oldOps = llvm::make_pointer_range(bodyOf(oldProgram)),
       newOps = llvm::make_pointer_range(bodyOf(newProgram));
  auto a = oldOps.begin(), b = newOps.begin();
  for (; a != oldOps.end() && b != newOps.end(); ++a, ++b) {
    if ((*a)->getName() != (*b)->getName()) {
      nodes.push_back(nodeName(*a));
      return nodes;
    }
    if (!comparison.agrees(**a, **b))
      nodes.push_back(nodeName(*a));
  }
  if (a != oldOps.end() || b != newOps.end())
    nodes.push_back("the number of nodes");
  return nodes;
}

} // namespace halftone::onnx_frontend
