// SPDX-License-Identifier: Apache-2.0
#include "passes/memory/AssignPlaces.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

bool isComputed(Value v) {
  Operation *op = v.getDefiningOp();
  return isa_and_nonnull<FusedOp, LibraryOpInterface>(op);
}

/// Whether every element of the kernel's outputs is computed from the inputs'
/// elements at the same index only.
bool isElementwise(FusedOp fused) {
  return fused.getSchedule() == "pointwise" &&
         llvm::all_of(fused.getBody().front().without_terminator(),
                      [](Operation &op) {
                        return isa<ScalarOpInterface, ConstantOp>(op);
                      });
}

/// The target and, where it is a pack, the parameters in it.
SmallVector<Value> aliases(Value target) {
  SmallVector<Value> list = {target};
  if (auto pack = target.getDefiningOp<PackOp>())
    llvm::append_range(list, pack.getParts());
  return list;
}

bool canOverwrite(Value value, Value target) {
  auto producer = value.getDefiningOp<FusedOp>();
  if (!producer || value.getType() != target.getType() ||
      !isElementwise(producer))
    return false;
  for (Value alias : aliases(target))
    for (Operation *user : alias.getUsers()) {
      if (isa<AssignOp, PackOp>(user))
        continue;
      bool sameIndex = user == producer && alias == target;
      if (!sameIndex &&
          (!user->isBeforeInBlock(producer) || isa<ReshapeOp>(user)))
        return false;
    }
  return true;
}

} // namespace

bool isParameterPack(PackOp pack) {
  return llvm::all_of(pack.getParts(), [](Value v) {
    return v.getDefiningOp<ParameterOp>() != nullptr;
  });
}

Places assignPlaces(ProgramOp program) {
  Places places;
  for (Operation &op : program.getBody().front()) {
    if (auto pack = dyn_cast<PackOp>(op); pack && !isParameterPack(pack)) {
      for (auto [i, part] : llvm::enumerate(pack.getParts()))
        if (isComputed(part))
          places.packed.try_emplace(part,
                                    PackPlace{pack, static_cast<unsigned>(i)});
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      Value value = assign.getValue();
      if (!places.inPlace.contains(value) && !places.packed.contains(value) &&
          canOverwrite(value, assign.getTarget()))
        places.inPlace[value] = assign.getTarget();
    }
  }
  return places;
}

} // namespace halftone::passes
