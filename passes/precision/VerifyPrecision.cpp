// SPDX-License-Identifier: Apache-2.0
// What must hold behind the precision phase, and what is reported of it.
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "passes/precision/Decision.h"
#include "passes/precision/OperandType.h"
#include <map>
#include <set>

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

// A list that makes more casts than this is worth a line.
constexpr int64_t kManyCasts = 8;

LogicalResult verifyOp(Operation *op) {
  auto color = colorOf(op);
  if (!color) {
    if (isa<PrecisionOpInterface>(op) && !op->hasAttr(kColor))
      return op->emitError("has no colour");
    if (isColorable(op))
      return op->emitError("reads or writes floats but is not coloured");
  }
  for (OpOperand &operand : op->getOpOperands())
    if (auto wanted = wantedType(operand);
        wanted && elementTypeOf(operand.get()) != *wanted)
      return op->emitError("operand ")
             << operand.getOperandNumber() << " is " << operand.get().getType()
             << " but the node wants " << *wanted;
  if (!color || op->hasAttr(kPinned))
    return success();
  for (OpResult result : op->getResults()) {
    if (!isColoredValue(result))
      continue;
    Type type = elementTypeOf(result);
    bool wide = cast<PrecisionOpInterface>(op).keepsWideResult(
                    result.getResultNumber()) ||
                op->hasAttr(kWideResult);
    bool fits =
        wide ? type.isF32()
             : !isLow(*color) || type == colorType(*color, op->getContext());
    if (!fits)
      return op->emitError("result ")
             << result.getResultNumber() << " is " << result.getType()
             << " but the node is " << colorName(*color);
  }
  return success();
}

bool isDenied(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kRule);
  return name && name.getValue() == rule::kDeny;
}

} // namespace

LogicalResult verifyPrecision(ProgramOp program) {
  bool valid = true;
  for (Operation &op : program.getBody().front())
    valid &= succeeded(verifyOp(&op));
  return success(valid);
}

PrecisionReport reportPrecision(ProgramOp program) {
  PrecisionReport report;
  std::map<std::string, int64_t> castsOf;
  for (Operation &op : program.getBody().front()) {
    if (isFloatCast(&op)) {
      ++report.casts;
      std::set<std::string> blamed;
      for (Operation *user : op.getUsers())
        if (isDenied(user) && elementTypeOf(op.getResult(0)).isF32())
          blamed.insert(user->getName().stripDialect().str());
      if (Operation *producer = op.getOperand(0).getDefiningOp();
          producer && isDenied(producer))
        blamed.insert(producer->getName().stripDialect().str());
      for (const std::string &name : blamed)
        ++castsOf[name];
    }
    if (auto library = dyn_cast<LibraryOpInterface>(op)) {
      report.productFlops += library.getFlops();
      auto color = colorOf(&op);
      if (color && isLow(*color))
        report.lowProductFlops += library.getFlops();
    }
  }
  for (const auto &[name, casts] : castsOf)
    if (casts > kManyCasts)
      report.notices.push_back(
          "denied operator " + name + " makes " + std::to_string(casts) +
          " of " + std::to_string(report.casts) + " casts; --infer " + name +
          " avoids them at the price of its range");
  return report;
}

} // namespace halftone::passes
