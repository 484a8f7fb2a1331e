// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelFunction.h"
#include "compiler/codegen/Storage.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {

SmallVector<Value> buffersOf(graph::FusedOp fused) {
  SmallVector<Value> tensors(fused.getInputs());
  llvm::append_range(tensors, fused.getOutputs());
  return tensors;
}

KernelFunction KernelFunction::openCuda(ModuleOp module, graph::FusedOp fused,
                                        KernelInfo &info) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = fused.getLoc();
  SmallVector<Value> tensors = buffersOf(fused);
  SmallVector<Type> pointers(tensors.size(),
                             LLVM::LLVMPointerType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), pointers);
  auto function = b.create<LLVM::LLVMFuncOp>(loc, info.name, type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  KernelFunction kernel{fused, function, b, loc, {}, {}, {}, {}, info};
  for (auto [n, tensor] : llvm::enumerate(tensors)) {
    function.setArgAttr(n, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(16));
    Type memref = bufferType(cast<RankedTensorType>(tensor.getType()));
    kernel.buffers.push_back(
        b.create<UnrealizedConversionCastOp>(loc, memref, entry->getArgument(n))
            .getResult(0));
  }
  b.setInsertionPoint(b.create<LLVM::ReturnOp>(loc, ValueRange()));
  kernel.b = b;
  return kernel;
}

KernelFunction KernelFunction::openCpu(ModuleOp module, graph::FusedOp fused,
                                       KernelInfo &info) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = fused.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()),
       i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64});
  auto function = b.create<LLVM::LLVMFuncOp>(loc, info.name, type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  KernelFunction kernel{fused, function, b, loc, {}, {}, {}, {}, info};
  for (auto [n, tensor] : llvm::enumerate(buffersOf(fused))) {
    Value slot = b.create<LLVM::GEPOp>(
        loc, pointer, pointer, entry->getArgument(0),
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(n)}, /*inbounds=*/true);
    auto load = b.create<LLVM::LoadOp>(loc, pointer, slot);
    load.setInvariant(true);
    Type memref = bufferType(cast<RankedTensorType>(tensor.getType()));
    kernel.buffers.push_back(
        b.create<UnrealizedConversionCastOp>(loc, memref, load.getResult())
            .getResult(0));
  }
  kernel.begin = b.create<arith::IndexCastOp>(loc, b.getIndexType(),
                                              entry->getArgument(1));
  kernel.end = b.create<arith::IndexCastOp>(loc, b.getIndexType(),
                                            entry->getArgument(2));
  auto end = b.create<LLVM::ReturnOp>(loc, ValueRange());
  b.setInsertionPoint(end);
  kernel.b = b;
  return kernel;
}

void KernelFunction::markArguments() {
  auto entry = cast<LLVM::LLVMFuncOp>(function);
  auto pairs = fused->getAttrOfType<DenseI64ArrayAttr>(kInPlace);
  UnitAttr unit = UnitAttr::get(entry.getContext());
  unsigned inputs = fused.getInputs().size();
  for (unsigned n = 0; n < buffers.size(); ++n) {
    bool isInput = n < inputs, shared = isInput && writable[n];
    for (int64_t k = 1; !isInput && pairs && k < pairs.size(); k += 2)
      shared |= pairs[k] == static_cast<int64_t>(n - inputs);
    if (shared)
      continue;
    entry.setArgAttr(n, LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    if (isInput)
      entry.setArgAttr(n, LLVM::LLVMDialect::getReadonlyAttrName(), unit);
  }
}

LogicalResult KernelFunction::noteReuse(const AccessProbe *probe) {
  writable.assign(fused.getInputs().size(), false);
  auto pairs = fused->getAttrOfType<DenseI64ArrayAttr>(kInPlace);
  if (!pairs || pairs.empty())
    return success();
  SmallVector<SmallVector<unsigned>> may(fused.getOutputs().size());
  if (probe)
    may = probe->reusable();
  for (int64_t k = 0; k + 1 < pairs.size(); k += 2) {
    int64_t input = pairs[k], output = pairs[k + 1];
    bool fits = output >= 0 && output < static_cast<int64_t>(may.size()) &&
                llvm::is_contained(may[output], input);
    if (!fits)
      return fused.emitOpError("cannot write output ")
             << output << " over input " << input
             << ": other elements of it are read";
    writable[input] = true;
  }
  return success();
}

SmallVector<OutputGroup> groupOutputs(graph::FusedOp fused) {
  SmallVector<OutputGroup> groups;
  for (auto [o, v] : llvm::enumerate(fused.getOutputs())) {
    ArrayRef<int64_t> shape = graph::shapeOf(v);
    if (graph::numElements(shape) == 0)
      continue;
    auto same = llvm::find_if(groups, [&](const OutputGroup &g) {
      return ArrayRef(g.domain) == shape;
    });
    if (same == groups.end()) {
      groups.push_back({SmallVector<int64_t>(shape), {}});
      same = std::prev(groups.end());
    }
    same->outputs.push_back(static_cast<unsigned>(o));
  }
  return groups;
}

Value enterItemLoop(ScalarBuilder &s, KernelFunction &kernel,
                    IndexForms &forms) {
  auto items =
      s.b.create<scf::ForOp>(kernel.begin, kernel.end, s.constantIndex(1));
  s.b.setInsertionPointToStart(items.getBody());
  forms.setRange(items.getInductionVar(), 0, kernel.info.workItems - 1);
  return items.getInductionVar();
}

FailureOr<Space> groupSpace(KernelFunction &kernel, const OutputGroup &group,
                            bool alone) {
  AccessProbe probe(kernel.fused, group.domain, group.outputs);
  if (probe.hasFailed() || failed(kernel.noteReuse(alone ? &probe : nullptr)))
    return failure();
  return probe.collapse();
}

} // namespace halftone::codegen
