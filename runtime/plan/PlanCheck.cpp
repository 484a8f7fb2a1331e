// SPDX-License-Identifier: Apache-2.0
// Checks of everything in a plan but its steps: layout, parameters, states,
// constants, inputs.
#include "runtime/plan/PlanCheck.h"

#include <set>

namespace halftone::runtime {

namespace {
constexpr uint64_t kMaxArenaBytes = uint64_t(1) << 48;
constexpr size_t kMaxRank = 32;

std::string inQuotes(const std::string &name) { return "'" + name + "'"; }

Status checkBuffer(const Plan &plan, Buffer &buffer) {
  std::string what = "buffer " + inQuotes(buffer.name);
  if (buffer.arena >= plan.arenas.size())
    return invalidInput(what + " lies in an arena that does not exist");
  if (buffer.type < ElementType::F32 || buffer.type > ElementType::U8)
    return invalidInput(what + " has an unknown element type");
  if (buffer.shape.size() > kMaxRank)
    return invalidInput(what + " has too many dimensions");
  std::optional<uint64_t> count = elementCount(buffer.shape);
  size_t size = elementSize(buffer.type);
  const Arena &arena = plan.arenas[buffer.arena];
  if (!count || *count > kMaxArenaBytes / size)
    return invalidInput(what + " has the impossible shape " +
                        formatShape(buffer.shape));
  buffer.elements = *count;
  buffer.bytes = *count * size;
  if (buffer.offset % size != 0)
    return invalidInput(what + " is not aligned to its element size");
  if (buffer.offset > arena.bytes || buffer.bytes > arena.bytes - buffer.offset)
    return invalidInput(what + " reaches beyond the end of arena " +
                        inQuotes(arena.name));
  return {};
}

Status checkIndex(const Plan &plan, uint32_t buffer, const std::string &what) {
  if (buffer >= plan.buffers.size())
    return invalidInput(what + " names a buffer that does not exist");
  return {};
}

Status checkDistribution(const Distribution &init, const std::string &what) {
  if (init.kind > Distribution::Kind::Normal)
    return invalidInput(what + " has an unknown distribution");
  return {};
}

Status checkGradient(const Plan &plan, const Parameter &parameter,
                     const std::string &what) {
  HALFTONE_RETURN_IF_ERROR(
      checkIndex(plan, *parameter.gradient, "the gradient of " + what));
  const Buffer &gradient = plan.buffers[*parameter.gradient];
  if (plan.arenas[gradient.arena].kind != ArenaKind::Gradients ||
      !isFloat(gradient.type) ||
      gradient.elements != plan.buffers[parameter.buffer].elements)
    return invalidInput("the gradient of " + what + " does not fit it");
  return {};
}

Status checkParameter(const Plan &plan, const Parameter &parameter) {
  std::string what = "parameter " + inQuotes(parameter.name);
  if (parameter.name.empty() || parameter.role > Parameter::Role::Constant)
    return invalidInput(what + " has no name or an unknown role");
  HALFTONE_RETURN_IF_ERROR(checkIndex(plan, parameter.buffer, what));
  const Buffer &buffer = plan.buffers[parameter.buffer];
  bool isConstant = parameter.role == Parameter::Role::Constant;
  if (plan.arenas[buffer.arena].kind !=
      (isConstant ? ArenaKind::Constants : ArenaKind::Parameters))
    return invalidInput(what + " lies in the wrong arena");
  if (!isConstant && buffer.type != ElementType::F32)
    return invalidInput(what + " is not float32");
  if (parameter.init)
    HALFTONE_RETURN_IF_ERROR(checkDistribution(*parameter.init, what));
  return parameter.gradient ? checkGradient(plan, parameter, what) : Status();
}

Status checkParameters(const Plan &plan) {
  std::set<std::string_view> names;
  for (const Parameter &parameter : plan.parameters) {
    HALFTONE_RETURN_IF_ERROR(checkParameter(plan, parameter));
    if (!names.insert(parameter.name).second)
      return invalidInput("two parameters are called " +
                          inQuotes(parameter.name));
  }
  return {};
}

Status checkStates(const Plan &plan) {
  std::set<std::string_view> names;
  for (const State &state : plan.states) {
    std::string what = "state " + inQuotes(state.name);
    HALFTONE_RETURN_IF_ERROR(checkIndex(plan, state.buffer, what));
    const Buffer &buffer = plan.buffers[state.buffer];
    if (!isPersistent(plan.arenas[buffer.arena].kind))
      return invalidInput(what + " lies in an arena that is not kept");
    if (state.init.size() != buffer.bytes &&
        state.init.size() != elementSize(buffer.type))
      return invalidInput(
          what + " starts with " + std::to_string(state.init.size()) +
          " bytes, its buffer has " + std::to_string(buffer.bytes));
    if (!names.insert(state.name).second)
      return invalidInput("two states are called " + inQuotes(state.name));
  }
  return {};
}

Status checkConstants(const Plan &plan) {
  for (const Constant &constant : plan.constants) {
    HALFTONE_RETURN_IF_ERROR(checkIndex(plan, constant.buffer, "a constant"));
    const Buffer &buffer = plan.buffers[constant.buffer];
    if (plan.arenas[buffer.arena].kind != ArenaKind::Constants)
      return invalidInput("constant " + inQuotes(buffer.name) +
                          " lies in the wrong arena");
    if (constant.data.size() != buffer.bytes)
      return invalidInput("constant " + inQuotes(buffer.name) + " has " +
                          std::to_string(constant.data.size()) +
                          " bytes of data, its buffer has " +
                          std::to_string(buffer.bytes));
  }
  return {};
}

/// Stretches of a row, in order, that allow something.
bool areOrdered(const std::vector<Bound> &bounds, uint64_t rowElements) {
  uint64_t end = 0;
  for (const Bound &bound : bounds) {
    if (bound.first < end || bound.end <= bound.first ||
        bound.end > rowElements || bound.minimum > bound.maximum)
      return false;
    end = bound.end;
  }
  return true;
}

Status checkInputs(const Plan &plan, const std::vector<Input> &inputs) {
  std::set<std::string_view> names;
  for (const Input &input : inputs) {
    std::string what = "input " + inQuotes(input.name);
    HALFTONE_RETURN_IF_ERROR(checkIndex(plan, input.buffer, what));
    if (input.kind > Input::Kind::RowWeight)
      return invalidInput(what + " has an unknown kind");
    if (input.minimum > input.maximum)
      return invalidInput(what + " allows no value");
    const Buffer &buffer = plan.buffers[input.buffer];
    if (!areOrdered(input.bounds, plan.rowElements(buffer)))
      return invalidInput(what + " has bounds that do not fit its rows");
    if (input.kind == Input::Kind::RowWeight &&
        (buffer.type != ElementType::F32 ||
         buffer.elements != static_cast<uint64_t>(plan.batch)))
      return invalidInput(what + " is not one float32 a row");
    if (!names.insert(input.name).second)
      return invalidInput("two inputs are called " + inQuotes(input.name));
  }
  return {};
}
} // namespace

Status checkBuffers(Plan &plan) {
  for (const Arena &arena : plan.arenas) {
    if (arena.kind < ArenaKind::Parameters || arena.kind > ArenaKind::Workspace)
      return invalidInput("arena " + inQuotes(arena.name) +
                          " has an unknown kind");
    if (arena.bytes > kMaxArenaBytes)
      return invalidInput("arena " + inQuotes(arena.name) +
                          " has an impossible size");
  }
  for (Buffer &buffer : plan.buffers)
    HALFTONE_RETURN_IF_ERROR(checkBuffer(plan, buffer));
  return {};
}

Status checkValues(const Plan &plan) {
  if (plan.target != "cpu" && plan.target != "cuda")
    return invalidInput("target " + inQuotes(plan.target) + " is unknown");
  if (plan.batch < 1)
    return invalidInput("the batch has " + std::to_string(plan.batch) +
                        " rows");
  if (std::filesystem::path(plan.weightsFile).filename() != plan.weightsFile ||
      plan.weightsFile == "." || plan.weightsFile == "..")
    return invalidInput("the weights file " + inQuotes(plan.weightsFile) +
                        " is not a plain file name");
  HALFTONE_RETURN_IF_ERROR(checkParameters(plan));
  HALFTONE_RETURN_IF_ERROR(checkStates(plan));
  HALFTONE_RETURN_IF_ERROR(checkConstants(plan));
  HALFTONE_RETURN_IF_ERROR(checkInputs(plan, plan.inputs));
  return checkInputs(plan, plan.evalInputs);
}

} // namespace halftone::runtime
