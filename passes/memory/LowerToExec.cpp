// SPDX-License-Identifier: Apache-2.0
// Values become buffers; what is computed where it must end up is AssignPlaces'
// decision.
#include "passes/memory/LowerToExec.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "passes/memory/AssignPlaces.h"

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

MemRefType memrefOf(Value v) {
  return MemRefType::get(shapeOf(v), elementTypeOf(v));
}
int64_t byteWidth(Type element) {
  return std::max(8u, element.getIntOrFloatBitWidth()) / 8;
}

class Lowering {
public:
  Lowering(ProgramOp program, exec::ProgramOp target, KernelTable &kernels)
      : program(program), kernels(kernels), places(assignPlaces(program)),
        b(OpBuilder::atBlockEnd(&target.getBody().front())) {
    for (PackOp pack : program.getBody().getOps<PackOp>())
      if (isParameterPack(pack))
        for (auto [part, offset] :
             llvm::zip_equal(pack.getParts(), pack.getOffsets()))
          parameterOffsets[part] = offset;
  }

  LogicalResult run() {
    for (Operation &op : program.getBody().front())
      if (failed(lower(&op)))
        return failure();
    // Assigned last: until here every step read the old values.
    for (AssignOp assign : program.getBody().getOps<AssignOp>())
      if (places.inPlace.lookup(assign.getValue()) != assign.getTarget())
        copy(assign.getLoc(), bufferOf(assign.getValue()),
             bufferOf(assign.getTarget()), "optimizer");
    for (OutputOp output : program.getBody().getOps<OutputOp>())
      b.create<exec::OutputOp>(output.getLoc(), output.getName(),
                               bufferOf(output.getValue()));
    return success();
  }

private:
  Value bufferOf(Value v) { return buffers.lookup(v); }

  Value buffer(Location loc, StringRef arena, StringRef name, MemRefType type,
               std::optional<int64_t> offset = std::nullopt,
               ElementsAttr value = nullptr) {
    return b.create<exec::BufferOp>(
        loc, type, b.getStringAttr(arena), b.getStringAttr(name),
        offset ? b.getI64IntegerAttr(*offset) : IntegerAttr(), value);
  }

  void copy(Location loc, Value from, Value to, StringRef phase) {
    if (cast<MemRefType>(from.getType()).getShape() !=
        cast<MemRefType>(to.getType()).getShape())
      to = b.create<exec::ViewOp>(loc, from.getType(), to, 0);
    auto step = b.create<exec::CopyOp>(loc, ValueRange{from}, ValueRange{to});
    step->setAttr("phase", b.getStringAttr(phase));
  }

  /// Where a computed value goes.
  Value allocate(Value v) {
    Value &known = buffers[v];
    if (known)
      return known;
    if (Value target = places.inPlace.lookup(v))
      return known = bufferOf(target);
    if (auto it = places.packed.find(v); it != places.packed.end())
      return known = gradientPart(it->second.pack, it->second.part);
    return known = buffer(v.getLoc(), "activations", "", memrefOf(v));
  }

  /// Part `part` of the gradient arena, named after its parameter.
  Value gradientPart(PackOp pack, unsigned part) {
    Value value = pack.getParts()[part];
    int64_t offset = pack.getOffsets()[part];
    StringRef name;
    for (auto [parameter, at] : parameterOffsets)
      if (at == offset)
        name = parameter.getDefiningOp<ParameterOp>().getName();
    return buffer(pack.getLoc(), "gradients", name, memrefOf(value),
                  offset * byteWidth(elementTypeOf(value)));
  }

  LogicalResult lower(Operation *op) {
    if (auto input = dyn_cast<InputOp>(op)) {
      buffers[input.getValue()] = buffer(
          op->getLoc(), "inputs", input.getName(), memrefOf(input.getValue()));
      bufferOf(input.getValue())
          .getDefiningOp()
          ->setAttr("kind", input.getKindAttr());
    } else if (auto parameter = dyn_cast<ParameterOp>(op)) {
      lowerParameter(parameter);
    } else if (auto state = dyn_cast<StateOp>(op)) {
      buffers[state.getValue()] =
          buffer(op->getLoc(), "state", state.getName(),
                 memrefOf(state.getValue()), std::nullopt, state.getInit());
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      buffers[constant.getOutput()] =
          buffer(op->getLoc(), "constants", "", memrefOf(constant.getOutput()),
                 std::nullopt, constant.getValue());
    } else if (isa<ReshapeOp>(op)) {
      Value source = bufferOf(op->getOperand(0)), result = op->getResult(0);
      buffers[result] =
          b.create<exec::ViewOp>(op->getLoc(), memrefOf(result), source, 0);
    } else if (auto pack = dyn_cast<PackOp>(op)) {
      lowerPack(pack);
    } else if (auto fused = dyn_cast<FusedOp>(op)) {
      lowerFused(fused);
    } else if (auto library = dyn_cast<LibraryOpInterface>(op)) {
      lowerLibrary(library);
    } else if (!isa<AssignOp, OutputOp>(op)) {
      return op->emitError("operator '") << op->getName().stripDialect()
                                         << "' was neither fused nor lowered";
    }
    return success();
  }

  void lowerParameter(ParameterOp parameter) {
    Value v = parameter.getValue();
    std::optional<int64_t> offset;
    if (auto it = parameterOffsets.find(v); it != parameterOffsets.end())
      offset = it->second * byteWidth(elementTypeOf(v));
    StringRef arena =
        parameter.getRole() == "constant" ? "constants" : "parameters";
    buffers[v] = buffer(parameter.getLoc(), arena, parameter.getName(),
                        memrefOf(v), offset);
    bufferOf(v).getDefiningOp()->setAttr("role", parameter.getRoleAttr());
  }

  void lowerPack(PackOp pack) {
    bool parameters = isParameterPack(pack);
    buffers[pack.getFlat()] =
        buffer(pack.getLoc(), parameters ? "parameters" : "gradients", "",
               memrefOf(pack.getFlat()), 0);
    if (parameters)
      return;
    for (auto [i, part] : llvm::enumerate(pack.getParts())) {
      auto it = places.packed.find(part);
      if (it == places.packed.end() || it->second.pack != pack ||
          it->second.part != i)
        copy(part.getLoc(), bufferOf(part),
             gradientPart(pack, static_cast<unsigned>(i)), "backward");
    }
  }

  void lowerFused(FusedOp fused) {
    SmallVector<Value> inputs, outputs;
    for (Value v : fused.getInputs())
      inputs.push_back(bufferOf(v));
    for (Value v : fused.getOutputs())
      outputs.push_back(allocate(v));
    SmallVector<int64_t> inPlace;
    for (auto [o, output] : llvm::enumerate(outputs))
      for (auto [i, input] : llvm::enumerate(inputs))
        if (input == output)
          inPlace.append({static_cast<int64_t>(i), static_cast<int64_t>(o)});
    auto step = b.create<exec::LaunchOp>(fused.getLoc(), inputs, outputs,
                                         kernels.lookup(fused, inPlace));
    step->setAttr("phase", phaseOf(fused));
  }

  void lowerLibrary(LibraryOpInterface library) {
    SmallVector<Value> inputs, outputs;
    for (Value v : library->getOperands())
      inputs.push_back(bufferOf(v));
    for (Value v : library->getResults())
      outputs.push_back(allocate(v));
    OriginTagger tagger(b.getNamedAttr("phase", phaseOf(library)));
    b.setListener(&tagger);
    Operation *last = &b.getBlock()->back();
    library.lower(b, inputs, outputs);
    b.setListener(nullptr);
    auto color = library->getAttrOfType<StringAttr>("color");
    if (color && color.getValue() == "tf32")
      for (Operation *step = last->getNextNode(); step;
           step = step->getNextNode())
        if (isa<exec::StepOpInterface>(step))
          step->setAttr("tf32", b.getBoolAttr(true));
  }

  StringAttr phaseOf(Operation *op) {
    auto origin = op->getAttrOfType<StringAttr>(kOrigin);
    return origin ? origin : b.getStringAttr("forward");
  }

  ProgramOp program;
  KernelTable &kernels;
  Places places;
  OpBuilder b;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Value, int64_t> parameterOffsets;
};

} // namespace

FailureOr<exec::ProgramOp> lowerToExec(ProgramOp program,
                                       KernelTable &kernels) {
  OpBuilder b(program);
  auto target =
      b.create<exec::ProgramOp>(program.getLoc(), program.getSymNameAttr());
  target.getBody().emplaceBlock();
  if (failed(Lowering(program, target, kernels).run()))
    return failure();
  return target;
}

} // namespace halftone::passes
