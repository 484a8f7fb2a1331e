// SPDX-License-Identifier: Apache-2.0
#include "passes/memory/KernelTable.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

// Attributes that say where an op comes from, not what it computes.
void stripOrigins(Operation *root) {
  root->walk([](Operation *op) {
    op->setLoc(UnknownLoc::get(op->getContext()));
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (llvm::is_contained({"domain", "reduced", "in_place"},
                             attribute.getName().strref()))
        kept.push_back(attribute);
    op->setDiscardableAttrs(DictionaryAttr::get(op->getContext(), kept));
  });
  for (Region &region : root->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setLoc(UnknownLoc::get(root->getContext()));
}

/// A short name that tells what the kernel does: its first ops.
std::string describe(FusedOp fused) {
  std::string name;
  int count = 0;
  for (Operation &op : fused.getBody().front().without_terminator())
    if (!isa<ConstantOp>(op) && count++ < 4)
      name += "_" + op.getName().stripDialect().str();
  return name;
}

} // namespace

KernelTable::KernelTable(ModuleOp module) : module(module) {
  for (auto kernel : module.getOps<exec::KernelOp>()) {
    std::string text;
    llvm::raw_string_ostream(text) << kernel.getBody().front().front();
    byText[text] = FlatSymbolRefAttr::get(kernel);
  }
}

FlatSymbolRefAttr KernelTable::lookup(FusedOp fused,
                                      ArrayRef<int64_t> inPlace) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  std::string name = "k" + std::to_string(byText.size()) + describe(fused);
  auto kernel =
      b.create<exec::KernelOp>(b.getUnknownLoc(), b.getStringAttr(name));
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : fused.getInputs())
    if (!mapping.contains(input))
      mapping.map(input, body.addArgument(input.getType(), b.getUnknownLoc()));
  Operation *copy = OpBuilder::atBlockEnd(&body).clone(*fused, mapping);
  if (!inPlace.empty())
    copy->setAttr("in_place", b.getDenseI64ArrayAttr(inPlace));
  stripOrigins(copy);
  std::string text;
  llvm::raw_string_ostream(text) << *copy;
  FlatSymbolRefAttr &known = byText[text];
  if (known)
    kernel.erase();
  else
    known = FlatSymbolRefAttr::get(kernel);
  return known;
}

} // namespace halftone::passes
