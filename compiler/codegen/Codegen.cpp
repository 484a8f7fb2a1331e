// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Codegen.h"
#include "compiler/codegen/ExpandMath.h"
#include "compiler/codegen/KernelFunction.h"
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/ReductionPlan.h"
#include "compiler/codegen/Storage.h"
#include "compiler/codegen/Targets.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

void prepareContext(MLIRContext *context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                       cf::ControlFlowDialect, memref::MemRefDialect,
                       LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

FailureOr<graph::FusedOp> fusedOf(exec::KernelOp kernel) {
  auto found = kernel.getBody().front().getOps<graph::FusedOp>();
  if (!llvm::hasSingleElement(found))
    return kernel.emitOpError("does not hold exactly one graph.fused"),
           failure();
  graph::FusedOp fused = *found.begin();
  if (!llvm::equal(fused.getInputs(), kernel.getBody().front().getArguments()))
    return kernel.emitOpError("holds a graph.fused whose operands are not the "
                              "block's arguments"),
           failure();
  return fused;
}

SmallVector<Value> buffersOf(graph::FusedOp fused) {
  SmallVector<Value> tensors(fused.getInputs());
  llvm::append_range(tensors, fused.getOutputs());
  return tensors;
}

/// Opens a kernel entry whose arguments are the buffers.
KernelFunction openCudaFunction(ModuleOp module, graph::FusedOp fused,
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

/// Opens `void NAME(ptr, i64, i64)` and loads the pointers.
KernelFunction openCpuFunction(ModuleOp module, graph::FusedOp fused,
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

LogicalResult checkTypes(graph::FusedOp fused) {
  for (Value v : buffersOf(fused))
    if (!isStorable(graph::elementTypeOf(v)))
      return fused.emitOpError("reads or writes elements of type ")
             << graph::elementTypeOf(v) << ", which no kernel stores";
  return success();
}

/// Whether offsets or work items could leave 31 bits.
bool needsLongIndices(graph::FusedOp fused) {
  auto isLong = [](Value v) {
    return graph::numElements(graph::shapeOf(v)) >= (int64_t(1) << 30);
  };
  auto domain = fused->getAttrOfType<DenseI64ArrayAttr>(kDomain);
  return llvm::any_of(buffersOf(fused), isLong) ||
         (domain &&
          graph::numElements(domain.asArrayRef()) >= (int64_t(1) << 30));
}

/// What LLVM may rely on about a CUDA kernel's pointers: it then loads through
/// the read-only path.
void markArguments(KernelFunction &kernel) {
  auto function = cast<LLVM::LLVMFuncOp>(kernel.function);
  auto pairs = kernel.fused->getAttrOfType<DenseI64ArrayAttr>(kInPlace);
  UnitAttr unit = UnitAttr::get(function.getContext());
  unsigned inputs = kernel.fused.getInputs().size();
  for (unsigned n = 0; n < kernel.buffers.size(); ++n) {
    bool isInput = n < inputs, shared = isInput && kernel.writable[n];
    for (int64_t k = 1; !isInput && pairs && k < pairs.size(); k += 2)
      shared |= pairs[k] == static_cast<int64_t>(n - inputs);
    if (shared)
      continue;
    function.setArgAttr(n, LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    if (isInput)
      function.setArgAttr(n, LLVM::LLVMDialect::getReadonlyAttrName(), unit);
  }
}

enum class Schedule { Pointwise, Reduction, Scatter };

FailureOr<Schedule> scheduleOf(graph::FusedOp fused) {
  static constexpr std::pair<StringLiteral, Schedule> kNames[] = {
      {"pointwise", Schedule::Pointwise},
      {"reduction", Schedule::Reduction},
      {"scatter", Schedule::Scatter}};
  for (auto [name, schedule] : kNames)
    if (fused.getSchedule() == name)
      return schedule;
  return fused.emitOpError("has the schedule '")
             << fused.getSchedule()
             << "', must be pointwise, reduction or scatter",
         failure();
}

LogicalResult emitReduction(KernelFunction &kernel, bool isCuda) {
  auto axes = reductionDomain(kernel.fused);
  if (failed(axes))
    return failure();
  if (graph::numElements(axes->first) == 0) {
    for (Value out : kernel.fused.getOutputs())
      if (graph::numElements(graph::shapeOf(out)) != 0)
        return kernel.fused.emitOpError("reduces no elements at all into ")
               << out.getType();
    return success();
  }
  AccessProbe probe(kernel.fused, axes->first, kernel.allOutputs());
  if (probe.hasFailed())
    return failure();
  if (failed(kernel.noteReuse(&probe)))
    return failure();
  return isCuda ? emitCudaReduction(kernel, probe)
                : emitCpuReduction(kernel, probe);
}

LogicalResult emitKernel(ModuleOp module, graph::FusedOp fused,
                         KernelInfo &info, bool isCuda) {
  auto schedule = scheduleOf(fused);
  if (failed(schedule) || failed(checkTypes(fused)))
    return failure();
  info.schedule = fused.getSchedule().str();
  KernelFunction kernel = isCuda ? openCudaFunction(module, fused, info)
                                 : openCpuFunction(module, fused, info);
  kernel.writable.assign(fused.getInputs().size(), false);
  LogicalResult emitted = success();
  if (*schedule == Schedule::Reduction)
    emitted = emitReduction(kernel, isCuda);
  else if (groupOutputs(fused).empty())
    return success();
  else if (*schedule == Schedule::Scatter)
    emitted = isCuda ? emitCudaScatter(kernel) : emitCpuScatter(kernel);
  else
    emitted = isCuda ? emitCudaPointwise(kernel) : emitCpuPointwise(kernel);
  if (isCuda && succeeded(emitted))
    markArguments(kernel);
  return emitted;
}

} // namespace

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

SmallVector<SmallVector<unsigned>> inputsOutputsMayReuse(graph::FusedOp fused) {
  prepareContext(fused.getContext());
  SmallVector<SmallVector<unsigned>> none(fused.getOutputs().size());
  auto schedule = scheduleOf(fused);
  // Types first: most kernels have no pair to look at.
  bool any = llvm::any_of(fused.getOutputs(), [&](Value out) {
    return llvm::any_of(fused.getInputs(), [&](Value in) {
      return graph::elementTypeOf(in) == graph::elementTypeOf(out);
    });
  });
  if (!any || failed(schedule) || *schedule == Schedule::Scatter)
    return none;
  SmallVector<int64_t> domain;
  if (*schedule == Schedule::Reduction) {
    auto axes = reductionDomain(fused);
    if (failed(axes))
      return none;
    domain = axes->first;
  } else {
    SmallVector<OutputGroup> groups = groupOutputs(fused);
    if (groups.size() != 1)
      return none;
    domain = groups[0].domain;
  }
  if (graph::numElements(domain) == 0)
    return none;
  AccessProbe probe(
      fused, domain,
      llvm::to_vector(llvm::seq<unsigned>(0, fused.getOutputs().size())));
  return probe.hasFailed() ? none : probe.reusable();
}

FailureOr<CodeModule> generate(ArrayRef<exec::KernelOp> kernels,
                               const TargetSpec &target) {
  CodeModule result;
  if (kernels.empty())
    return result;
  MLIRContext *context = exec::KernelOp(kernels.front()).getContext();
  prepareContext(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  result.kernels.resize(kernels.size());
  bool ok = true, isCuda = target.kind == TargetSpec::Kind::Cuda;
  LoweringOptions lowering{isCuda ? 32u : 64u,
                           /*convertsBfloat=*/isCuda && target.sm >= 90};
  for (auto [op, info] : llvm::zip_equal(kernels, result.kernels)) {
    auto fused = fusedOf(op);
    info.name = exec::KernelOp(op).getSymName().str();
    ok &= succeeded(fused) &&
          succeeded(emitKernel(*module, *fused, info, isCuda));
    if (succeeded(fused) && needsLongIndices(*fused))
      lowering.indexBits = 64;
  }
  if (!ok || failed(expandMath(*module)) ||
      failed(lowerToLLVM(*module, lowering)))
    return failure();
  auto code = isCuda ? toPtx(*module, target.sm) : toBitcode(*module);
  if (failed(code))
    return failure();
  result.code = std::move(*code);
  return result;
}

} // namespace halftone::codegen
