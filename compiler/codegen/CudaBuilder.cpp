// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/CudaBuilder.h"
#include "compiler/codegen/Storage.h"
#include "compiler/graph/GraphOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr unsigned kSharedSpace = 3;

LLVM::LLVMFuncOp functionOf(ScalarBuilder &s) {
  Operation *op = s.b.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
  return function ? function : op->getParentOfType<LLVM::LLVMFuncOp>();
}

} // namespace

void CudaBuilder::launch(int64_t blocks, int64_t threads) {
  kernel.info.grid = {static_cast<uint32_t>(blocks), 1, 1};
  kernel.info.block = {static_cast<uint32_t>(threads), 1, 1};
  kernel.info.workItems = blocks;
  functionOf(*this)->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
}

Value CudaBuilder::thread(IndexForms &forms) {
  Value id = b.create<arith::IndexCastUIOp>(
      b.getIndexType(), b.create<NVVM::ThreadIdXOp>(b.getI32Type()));
  forms.setRange(id, 0, kernel.info.block[0] - 1);
  return id;
}

Value CudaBuilder::block(IndexForms &forms) {
  Value id = b.create<arith::IndexCastUIOp>(
      b.getIndexType(), b.create<NVVM::BlockIdXOp>(b.getI32Type()));
  forms.setRange(id, 0, kernel.info.grid[0] - 1);
  return id;
}

void CudaBuilder::barrier() { b.create<NVVM::Barrier0Op>(); }
void CudaBuilder::syncWarp() {
  b.create<NVVM::SyncWarpOp>(constantInt(-1, b.getI32Type()));
}

Value CudaBuilder::shuffleXor(Value v, int64_t mask) {
  Type type = v.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  auto shuffle = [&](Value word) -> Value {
    return b.create<NVVM::ShflOp>(
        i32, constantInt(-1, i32), word, constantInt(mask, i32),
        constantInt(kWarp - 1, i32), NVVM::ShflKind::bfly, UnitAttr());
  };
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 32)
    return convert(shuffle(convert(v, i32)), type);
  if (isa<FloatType>(type))
    v = b.create<arith::BitcastOp>(b.getIntegerType(bits), v);
  if (bits == 32) {
    v = shuffle(v);
  } else {
    Value low = b.create<arith::TruncIOp>(i32, v);
    Value high = b.create<arith::TruncIOp>(
        i32, b.create<arith::ShRUIOp>(v, constantInt(32, i64)));
    low = b.create<arith::ExtUIOp>(i64, shuffle(low));
    high = b.create<arith::ShLIOp>(b.create<arith::ExtUIOp>(i64, shuffle(high)),
                                   constantInt(32, i64));
    v = ori(high, low);
  }
  return isa<FloatType>(type) ? b.create<arith::BitcastOp>(type, v).getResult()
                              : v;
}

Value CudaBuilder::ballot(Value condition) {
  return b.create<NVVM::VoteBallotOp>(
      b.getI32Type(), constantInt(-1, b.getI32Type()), condition);
}

Value CudaBuilder::sharedArray(int64_t size, Type type) {
  auto function = functionOf(*this);
  auto module = function->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned n = 0; name.empty() || module.lookupSymbol(name); ++n)
    name = (function.getSymName() + "_shared_" + Twine(n)).str();
  auto element = storageType(type);
  auto array = LLVM::LLVMArrayType::get(element, static_cast<unsigned>(size));
  OpBuilder outside(function);
  outside.create<LLVM::GlobalOp>(kernel.loc, array, /*isConstant=*/false,
                                 LLVM::Linkage::Internal, name, Attribute(),
                                 /*alignment=*/16, kSharedSpace);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  Value address = b.create<LLVM::AddressOfOp>(pointer, name);
  auto memref = MemRefType::get({size}, element, MemRefLayoutAttrInterface(),
                                b.getI64IntegerAttr(kSharedSpace));
  return b.create<UnrealizedConversionCastOp>(memref, address).getResult(0);
}

Value CudaBuilder::reduceLanes(Accumulator &accumulator, Value v,
                               int64_t lanes) {
  for (int64_t mask = lanes / 2; mask > 0; mask /= 2)
    v = accumulator.combine(b, v, shuffleXor(v, mask));
  return v;
}

void CudaBuilder::when(Value condition, function_ref<void()> then,
                       function_ref<void()> otherwise) {
  auto branch = b.create<scf::IfOp>(condition, static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }
}

int64_t vectorLength(graph::FusedOp fused, int64_t extent) {
  int64_t bytes = 2;
  SmallVector<Value> tensors(fused.getInputs());
  llvm::append_range(tensors, fused.getOutputs());
  for (Value v : tensors)
    if (graph::numElements(graph::shapeOf(v)) >= extent)
      bytes = std::max(bytes, storageBytes(graph::elementTypeOf(v)));
  return 16 / bytes;
}

} // namespace halftone::codegen
