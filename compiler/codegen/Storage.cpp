// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace halftone::codegen {

bool isStorable(Type t) {
  return t.isF32() || t.isF16() || t.isBF16() || t.isSignlessInteger(64) ||
         t.isSignlessInteger(32) || t.isSignlessInteger(16) ||
         t.isSignlessInteger(8) || t.isSignlessInteger(1) ||
         t.isUnsignedInteger(8);
}

Type storageType(Type t) {
  if (t.isInteger(1) || t.isUnsignedInteger(8))
    return IntegerType::get(t.getContext(), 8);
  return t;
}

Type scalarType(Type t) {
  if (isa<FloatType>(t))
    return Float32Type::get(t.getContext());
  if (t.isUnsignedInteger(8))
    return IntegerType::get(t.getContext(), 32);
  return t;
}

int64_t storageBytes(Type t) {
  return storageType(t).getIntOrFloatBitWidth() / 8;
}

MemRefType bufferType(RankedTensorType tensor) {
  return MemRefType::get({tensor.getNumElements()},
                         storageType(tensor.getElementType()));
}

Value loadElement(OpBuilder &b, Location loc, Value buffer, Value offset,
                  Type type, bool invariant) {
  auto load = b.create<memref::LoadOp>(loc, buffer, offset);
  load->setAttr(kParallel, b.getUnitAttr());
  if (invariant)
    load->setAttr(kInvariant, b.getUnitAttr());
  if (type.isF16() || type.isBF16())
    return b.create<arith::ExtFOp>(loc, b.getF32Type(), load.getResult());
  if (type.isInteger(1))
    return b.create<arith::CmpIOp>(
        loc, arith::CmpIPredicate::ne, load,
        b.create<arith::ConstantOp>(loc, b.getI8IntegerAttr(0)));
  if (type.isUnsignedInteger(8))
    return b.create<arith::ExtUIOp>(loc, b.getI32Type(), load.getResult());
  return load;
}

void storeElement(OpBuilder &b, Location loc, Value scalar, Value buffer,
                  Value offset, Type type) {
  if (type.isF16() || type.isBF16())
    scalar = b.create<arith::TruncFOp>(loc, type, scalar);
  else if (type.isInteger(1))
    scalar = b.create<arith::ExtUIOp>(loc, b.getI8Type(), scalar);
  else if (type.isUnsignedInteger(8))
    scalar = b.create<arith::TruncIOp>(loc, b.getI8Type(), scalar);
  auto store = b.create<memref::StoreOp>(loc, scalar, buffer, offset);
  store->setAttr(kParallel, b.getUnitAttr());
}

} // namespace halftone::codegen
