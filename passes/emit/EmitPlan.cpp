// SPDX-License-Identifier: Apache-2.0
#include "passes/emit/EmitPlan.h"
#include "compiler/interfaces/HostTensor.h"
#include "passes/emit/EmitProgram.h"

using namespace mlir;

namespace halftone::passes {
namespace {

proto::ArenaKind arenaKind(StringRef name) {
  return llvm::StringSwitch<proto::ArenaKind>(name)
      .Case("parameters", proto::PARAMETERS)
      .Case("state", proto::STATE)
      .Case("gradients", proto::GRADIENTS)
      .Case("constants", proto::CONSTANTS)
      .Case("inputs", proto::INPUTS)
      .StartsWith("activations", proto::ACTIVATIONS)
      .Default(proto::WORKSPACE);
}

std::map<std::string, uint32_t>
emitArenas(const std::map<std::string, int64_t> &sizes, proto::Plan &plan) {
  std::map<std::string, uint32_t> index;
  for (const auto &[name, bytes] : sizes) {
    index[name] = static_cast<uint32_t>(plan.arenas_size());
    proto::Arena &arena = *plan.add_arenas();
    arena.set_name(name);
    arena.set_kind(arenaKind(name));
    arena.set_bytes(static_cast<uint64_t>(bytes));
  }
  return index;
}

/// Elements as they lie in memory, little-endian.
std::string rawBytes(ElementsAttr attr) {
  auto dense = cast<DenseElementsAttr>(attr);
  Type element = dense.getElementType();
  std::string bytes;
  size_t width = std::max(8u, element.getIntOrFloatBitWidth()) / 8;
  auto append = [&](const APInt &bits) {
    uint64_t raw = bits.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&raw), width);
  };
  int64_t count = dense.isSplat() ? 1 : dense.getNumElements();
  bytes.reserve(static_cast<size_t>(count) * width);
  if (isa<FloatType>(element)) {
    for (auto [i, value] : llvm::enumerate(dense.getValues<APFloat>()))
      if (static_cast<int64_t>(i) < count)
        append(value.bitcastToAPInt());
      else
        break;
  } else {
    for (auto [i, value] : llvm::enumerate(dense.getValues<APInt>()))
      if (static_cast<int64_t>(i) < count)
        append(value);
      else
        break;
  }
  return bytes;
}

/// Constants are stored whole.
std::string fullBytes(ElementsAttr attr, int64_t elements) {
  std::string one = rawBytes(attr);
  if (!cast<DenseElementsAttr>(attr).isSplat())
    return one;
  std::string all;
  all.reserve(one.size() * static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i)
    all += one;
  return all;
}

/// Rows of a batch: the leading dimension that all data inputs share; 1 where
/// there is none.
int64_t batchRows(const proto::Plan &plan) {
  int64_t rows = 0;
  for (const proto::Input &input : plan.inputs()) {
    const proto::Buffer &buffer =
        plan.buffers(static_cast<int>(input.buffer()));
    int64_t leading = buffer.shape_size() ? buffer.shape(0) : 1;
    if (input.kind() == proto::Input::DATA)
      rows = rows == 0 || rows == leading ? leading : 1;
  }
  return rows ? rows : 1;
}

class PlanEmitter {
public:
  PlanEmitter(ModuleOp module, const std::map<std::string, int64_t> &sizes,
              proto::Plan &plan)
      : module(module), plan(plan), arenas(emitArenas(sizes, plan)),
        buffers(plan, arenas) {}

  LogicalResult emitKernels(const codegen::TargetSpec &target) {
    SmallVector<exec::KernelOp> list(module.getOps<exec::KernelOp>());
    auto code = codegen::generate(list, target);
    if (failed(code))
      return failure();
    plan.add_modules()->set_code(std::move(code->code));
    for (const codegen::KernelInfo &info : code->kernels) {
      kernels[info.name] = static_cast<uint32_t>(plan.kernels_size());
      proto::Kernel &kernel = *plan.add_kernels();
      kernel.set_name(info.name);
      kernel.set_module(0);
      kernel.set_work_items(info.workItems);
      kernel.set_grain(info.grain);
      for (int d = 0; d < 3; ++d) {
        kernel.add_grid(info.grid[d]);
        kernel.add_block(info.block[d]);
      }
      kernel.set_shared_bytes(info.sharedBytes);
      kernel.set_schedule(info.schedule);
    }
    return success();
  }

  void emitSources(exec::ProgramOp program, ArrayRef<ParameterInfo> infos,
                   bool eval) {
    for (auto buffer : program.getBody().getOps<exec::BufferOp>()) {
      StringRef arena = buffer.getArena(), name = buffer.getName();
      uint32_t index =
          buffers.indexOf(buffer.getBuffer(), program.getSymName());
      if (arena == "inputs")
        emitInput(buffer, index, eval);
      else if (arena == "gradients" && !name.empty())
        gradients[name] = index;
      else if (buffer->hasAttr("role") &&
               seen.insert({("parameter." + name).str(), 0}).second)
        emitParameter(buffer, index, infos);
      else if (arena == "state" &&
               seen.insert({("state." + name).str(), 0}).second)
        emitState(buffer, index);
      else if (arena == "constants" && buffer.getValueAttr() &&
               seen.insert({"constant." + std::to_string(index), 0}).second)
        emitConstant(buffer, index);
    }
  }

  void emitPrograms() {
    for (auto program : module.getOps<exec::ProgramOp>())
      emitProgram(program, buffers, kernels,
                  program.getSymName() == "train" ? *plan.mutable_train()
                                                  : *plan.mutable_eval());
    for (proto::Parameter &parameter : *plan.mutable_parameters())
      if (auto it = gradients.find(parameter.name()); it != gradients.end())
        parameter.set_gradient(it->second);
  }

private:
  void emitInput(exec::BufferOp buffer, uint32_t index, bool eval) {
    proto::Input &input = eval ? *plan.add_eval_inputs() : *plan.add_inputs();
    input.set_name(buffer.getName().str());
    input.set_buffer(index);
    StringRef kind = buffer->getAttrOfType<StringAttr>("kind").getValue();
    input.set_kind(kind == "target"       ? proto::Input::TARGET
                   : kind == "row_weight" ? proto::Input::ROW_WEIGHT
                                          : proto::Input::DATA);
  }

  void emitParameter(exec::BufferOp buffer, uint32_t index,
                     ArrayRef<ParameterInfo> infos) {
    proto::Parameter &parameter = *plan.add_parameters();
    parameter.set_name(buffer.getName().str());
    parameter.set_buffer(index);
    StringRef role = buffer->getAttrOfType<StringAttr>("role").getValue();
    parameter.set_role(role == "trainable"   ? proto::Parameter::TRAINABLE
                       : role == "frozen"    ? proto::Parameter::FROZEN
                       : role == "statistic" ? proto::Parameter::STATISTIC
                                             : proto::Parameter::CONSTANT);
    for (const ParameterInfo &info : infos)
      if (info.name == buffer.getName()) {
        for (const std::string &alias : info.aliases)
          parameter.add_aliases(alias);
        if (info.init)
          *parameter.mutable_init() = *info.init;
      }
  }

  void emitState(exec::BufferOp buffer, uint32_t index) {
    proto::State &state = *plan.add_states();
    state.set_name(buffer.getName().str());
    state.set_buffer(index);
    state.set_init(rawBytes(*buffer.getValue()));
  }

  void emitConstant(exec::BufferOp buffer, uint32_t index) {
    proto::Constant &constant = *plan.add_constants();
    constant.set_buffer(index);
    constant.set_data(fullBytes(
        *buffer.getValue(),
        cast<MemRefType>(buffer.getBuffer().getType()).getNumElements()));
  }

  ModuleOp module;
  proto::Plan &plan;
  std::map<std::string, uint32_t> arenas;
  BufferTable buffers;
  llvm::StringMap<uint32_t> kernels, gradients;
  llvm::StringMap<int> seen;
};

} // namespace

LogicalResult emitPlan(ModuleOp module,
                       const std::map<std::string, int64_t> &sizes,
                       const codegen::TargetSpec &target,
                       ArrayRef<ParameterInfo> parameters, proto::Plan &plan) {
  PlanEmitter emitter(module, sizes, plan);
  if (failed(emitter.emitKernels(target)))
    return failure();
  for (auto program : module.getOps<exec::ProgramOp>())
    emitter.emitSources(program, parameters, program.getSymName() == "eval");
  emitter.emitPrograms();
  plan.set_batch(batchRows(plan));
  return success();
}

} // namespace halftone::passes
