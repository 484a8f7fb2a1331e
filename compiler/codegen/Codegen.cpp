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
  bool inside = false;
  fused.getBody().walk(
      [&](Operation *op) { inside |= llvm::any_of(op->getResults(), isLong); });
  return inside || llvm::any_of(buffersOf(fused), isLong) ||
         (domain &&
          graph::numElements(domain.asArrayRef()) >= (int64_t(1) << 30));
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
  KernelFunction kernel = isCuda ? KernelFunction::openCuda(module, fused, info)
                                 : KernelFunction::openCpu(module, fused, info);
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
    kernel.markArguments();
  return emitted;
}

} // namespace

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
