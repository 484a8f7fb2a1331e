// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Pull.h"
#include "compiler/codegen/Storage.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

using graph::elementTypeOf;
using graph::shapeOf;

/// What an ElementOpInterface sees: its operands are pulled at the indices it
/// computes.
class OperandLoader final : public ElementBuilder {
public:
  OperandLoader(Pull &pull, OpBuilder &b, Operation *op)
      : ElementBuilder(b, op->getLoc()), pull(pull), op(op) {}

  Value load(unsigned operand, ValueRange index) override {
    return pull.at(b, op->getOperand(operand), index);
  }

  Value loadIf(Value inside, unsigned operand, ValueRange index,
               Value fallback) override {
    if (graph::numElements(shapeOf(op->getOperand(operand))) == 0)
      return fallback;
    auto branch = b.create<scf::IfOp>(TypeRange{fallback.getType()}, inside,
                                      /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value loaded = load(operand, index);
    b.create<scf::YieldOp>(loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(fallback);
    return branch.getResult(0);
  }

private:
  Pull &pull;
  Operation *op;
};

Value splatConstant(OpBuilder &b, Location loc, DenseElementsAttr value) {
  Type type = value.getElementType();
  if (isa<FloatType>(type)) {
    APFloat f = value.getSplatValue<APFloat>();
    bool lossy;
    f.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
    return b.create<arith::ConstantOp>(loc, b.getFloatAttr(b.getF32Type(), f));
  }
  APInt i = value.getSplatValue<APInt>();
  auto scalar = cast<IntegerType>(scalarType(type));
  i = type.isUnsignedInteger() ? i.zextOrTrunc(scalar.getWidth()) : i;
  return b.create<arith::ConstantOp>(loc, IntegerAttr::get(scalar, i));
}

/// A product with several readers is the same number for all of them, in every
/// pass of the kernel: none may take it unrounded into a multiply-add.
void keepRounding(Value scalar) {
  auto product = scalar.getDefiningOp<arith::MulFOp>();
  if (product)
    product.setFastmath(arith::bitEnumClear(product.getFastmath(),
                                            arith::FastMathFlags::contract));
}

bool encloses(Block *outer, Block *inner) {
  return outer == inner ||
         (inner->getParentOp() &&
          outer->findAncestorOpInBlock(*inner->getParentOp()));
}

} // namespace

Pull::Pull(graph::FusedOp fused, ValueRange buffers, ArrayRef<bool> writable,
           IndexForms &forms)
    : fused(fused), forms(forms), buffers(buffers), writable(writable) {}

Value Pull::fail(OpBuilder &b, Value v, const Twine &why) {
  if (!failed) {
    Operation *at =
        v.getDefiningOp() ? v.getDefiningOp() : fused.getOperation();
    at->emitError("cannot be part of a generated kernel: ") << why;
  }
  failed = true;
  Type type = scalarType(elementTypeOf(v));
  if (!isa<IntegerType, Float32Type>(type))
    type = b.getF32Type();
  return b.create<arith::ConstantOp>(v.getLoc(),
                                     cast<TypedAttr>(b.getZeroAttr(type)));
}

Value Pull::at(OpBuilder &b, Value v, ValueRange index) {
  SmallVector<unsigned, 6> numbers;
  for (auto [i, extent] : llvm::zip_equal(index, shapeOf(v)))
    numbers.push_back(extent == 1 ? forms.number(IndexForm())
                                  : forms.number(forms.of(i)));
  auto &entries = memo[{v.getAsOpaquePointer(), numbers}];
  for (const Entry &entry : entries)
    if (encloses(entry.block, b.getInsertionBlock()))
      return entry.scalar;
  Value scalar = emit(b, v, index);
  // Emission may have added entries of its own: look the key up again.
  memo[{v.getAsOpaquePointer(), numbers}].push_back(
      {b.getInsertionBlock(), scalar});
  return scalar;
}

Value Pull::emit(OpBuilder &b, Value v, ValueRange index) {
  if (!isStorable(elementTypeOf(v)))
    return fail(b, v,
                "elements of type " +
                    llvm::formatv("{0}", elementTypeOf(v)).str());
  if (auto input = dyn_cast<BlockArgument>(v))
    return load(b, input, index);
  Value scalar = emitOp(b, cast<OpResult>(v), index);
  Type expected = scalarType(elementTypeOf(v));
  if (scalar.getType() != expected && !failed)
    return fail(b, v,
                llvm::formatv("it gives {0} where {1} is due", scalar.getType(),
                              expected)
                    .str());
  return scalar;
}

Value Pull::emitOp(OpBuilder &b, OpResult v, ValueRange index) {
  Operation *op = v.getOwner();
  Location loc = op->getLoc();
  if (reader)
    if (Value scalar = reader(b, v, index))
      return scalar;
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!value || !value.isSplat())
      return fail(b, v,
                  "a constant of different elements; it must be an input");
    return splatConstant(b, loc, value);
  }
  if (auto scalarOp = dyn_cast<ScalarOpInterface>(op)) {
    ScalarBuilder builder(b, loc);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(at(builder.b, operand,
                            builder.broadcastIndex(index, shapeOf(operand))));
    // Between floats a cast is nothing here: only stores round.
    Value scalar = scalarOp.emitScalar(builder, operands);
    if (!v.hasOneUse())
      keepRounding(scalar);
    return scalar;
  }
  if (auto elementOp = dyn_cast<ElementOpInterface>(op)) {
    OperandLoader loader(*this, b, op);
    return elementOp.emitElement(loader, v.getResultNumber(), index);
  }
  if (isa<ReductionOpInterface>(op) && reader)
    return fail(b, v,
                "its result is used at another index than its own, or before "
                "it is known");
  return fail(b, v,
              "'" + op->getName().getStringRef() +
                  "' has no scalar form in this schedule");
}

Value Pull::offset(OpBuilder &b, ValueRange index, ArrayRef<int64_t> shape) {
  IndexForm form;
  for (auto [i, extent] : llvm::zip_equal(index, shape))
    form = extent == 1 ? form : form * extent + forms.of(i);
  return forms.materialize(b, fused.getLoc(), form);
}

Value Pull::load(OpBuilder &b, BlockArgument input, ValueRange index) {
  unsigned n = input.getArgNumber();
  return loadElement(b, fused.getLoc(), buffers[n],
                     offset(b, index, shapeOf(input)), elementTypeOf(input),
                     !writable[n]);
}

SmallVector<Value> Pull::outputsAt(OpBuilder &b, ArrayRef<unsigned> outputs,
                                   ValueRange index) {
  Operation *yield = fused.getBody().front().getTerminator();
  ScalarBuilder builder(b, fused.getLoc());
  SmallVector<Value> scalars;
  for (unsigned o : outputs) {
    Value v = yield->getOperand(o);
    scalars.push_back(
        at(builder.b, v, builder.broadcastIndex(index, shapeOf(v))));
  }
  return scalars;
}

void Pull::store(OpBuilder &b, ArrayRef<unsigned> outputs, ValueRange index,
                 ValueRange scalars) {
  ScalarBuilder builder(b, fused.getLoc());
  unsigned inputs = fused.getInputs().size();
  for (auto [scalar, o] : llvm::zip_equal(scalars, outputs)) {
    Value v = fused.getOutputs()[o];
    SmallVector<Value> own = builder.broadcastIndex(index, shapeOf(v));
    storeElement(builder.b, fused.getLoc(), scalar, buffers[inputs + o],
                 offset(builder.b, own, shapeOf(v)), elementTypeOf(v));
  }
}

void Pull::storeOutputs(OpBuilder &b, ArrayRef<unsigned> outputs,
                        ValueRange index) {
  store(b, outputs, index, outputsAt(b, outputs, index));
}

} // namespace halftone::codegen
