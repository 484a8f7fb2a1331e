// SPDX-License-Identifier: Apache-2.0
#include "passes/emit/EmitProgram.h"

using namespace mlir;

namespace halftone::passes {
namespace {

proto::Phase phaseOf(Operation *op) {
  auto attribute = op->getAttrOfType<StringAttr>("phase");
  StringRef phase = attribute ? attribute.getValue() : "forward";
  if (phase == "backward")
    return proto::BACKWARD;
  if (phase == "loss")
    return proto::LOSS;
  return phase == "optimizer" ? proto::OPTIMIZER : proto::FORWARD;
}

/// The nodes of a (possibly fused) location, joined.
std::string nodesOf(Location location) {
  std::string names;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names += (names.empty() ? "" : " + ") + name.getName().str();
    return WalkResult::advance();
  });
  return names;
}

template <typename Range, typename Field>
void addAll(Range values, Field *field) {
  for (auto value : values)
    field->Add(value);
}

void setMatMul(exec::MatMulOp op, proto::MatMul &m) {
  m.set_batch(op.getBatch());
  m.set_m(op.getM());
  m.set_n(op.getN());
  m.set_k(op.getK());
  m.set_transpose_a(op.getTransposeA());
  m.set_transpose_b(op.getTransposeB());
  m.set_stride_a(op.getStrideA());
  m.set_stride_b(op.getStrideB());
  m.set_stride_c(op.getStrideC());
  m.set_bias(op.getInputs().size() == 3);
  m.set_tf32(op.getTf32());
}

void setConvolution(exec::ConvolutionOp op, proto::Convolution &c) {
  StringRef direction = op.getDirection();
  c.set_direction(direction == "forward" ? proto::Convolution::FORWARD
                  : direction == "data_gradient"
                      ? proto::Convolution::DATA_GRADIENT
                      : proto::Convolution::WEIGHT_GRADIENT);
  c.set_group(op.getGroup());
  addAll(op.getStrides(), c.mutable_strides());
  addAll(op.getPads(), c.mutable_pads());
  addAll(op.getDilations(), c.mutable_dilations());
  c.set_channels_last(op.getChannelsLast());
  c.set_tf32(op.getTf32());
}

} // namespace

proto::ElementType elementType(Type type) {
  if (type.isF32())
    return proto::F32;
  if (type.isF16())
    return proto::F16;
  if (type.isBF16())
    return proto::BF16;
  switch (type.getIntOrFloatBitWidth()) {
  case 64:
    return proto::I64;
  case 32:
    return proto::I32;
  case 8:
    return proto::U8;
  case 1:
    return proto::BOOL;
  default:
    return proto::ELEMENT_UNKNOWN;
  }
}

uint32_t BufferTable::indexOf(Value v, StringRef program) {
  auto type = cast<MemRefType>(v.getType());
  int64_t width = std::max(8u, type.getElementTypeBitWidth()) / 8, offset = 0;
  Value base = v;
  while (auto view = base.getDefiningOp<exec::ViewOp>()) {
    offset += static_cast<int64_t>(view.getOffset()) * width;
    base = view.getSource();
  }
  auto buffer = cast<exec::BufferOp>(base.getDefiningOp());
  offset += static_cast<int64_t>(*buffer.getOffset());
  std::string arena = buffer.getArena().str();
  if (arena == "activations")
    arena += "." + program.str();

  std::string name = base == v ? buffer.getName().str() : "", key;
  llvm::raw_string_ostream(key)
      << arena << '|' << name << '|' << offset << '|' << type;
  auto [it, isNew] =
      known.try_emplace(key, static_cast<uint32_t>(plan.buffers_size()));
  if (isNew) {
    proto::Buffer &out = *plan.add_buffers();
    out.set_name(name);
    out.set_arena(arenas.at(arena));
    out.set_offset(static_cast<uint64_t>(offset));
    out.set_type(elementType(type.getElementType()));
    addAll(type.getShape(), out.mutable_shape());
  }
  return it->second;
}

void emitProgram(exec::ProgramOp program, BufferTable &buffers,
                 const llvm::StringMap<uint32_t> &kernels,
                 proto::Program &out) {
  StringRef name = program.getSymName();
  for (Operation &op : program.getBody().front()) {
    if (auto output = dyn_cast<exec::OutputOp>(op)) {
      proto::Output &named = *out.add_outputs();
      named.set_name(output.getName().str());
      named.set_buffer(buffers.indexOf(output.getBuffer(), name));
      continue;
    }
    auto stepOp = dyn_cast<exec::StepOpInterface>(op);
    if (!stepOp)
      continue;
    proto::Step &step = *out.add_steps();
    step.set_node(nodesOf(op.getLoc()));
    step.set_phase(phaseOf(&op));
    for (Value v : stepOp.getInputs())
      step.add_inputs(buffers.indexOf(v, name));
    for (Value v : stepOp.getOutputs())
      step.add_outputs(buffers.indexOf(v, name));
    if (auto launch = dyn_cast<exec::LaunchOp>(op))
      step.mutable_launch()->set_kernel(kernels.lookup(launch.getKernel()));
    else if (auto matmul = dyn_cast<exec::MatMulOp>(op))
      setMatMul(matmul, *step.mutable_matmul());
    else if (auto convolution = dyn_cast<exec::ConvolutionOp>(op))
      setConvolution(convolution, *step.mutable_convolution());
    else
      step.mutable_copy();
  }
}

} // namespace halftone::passes
