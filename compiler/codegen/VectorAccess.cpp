// SPDX-License-Identifier: Apache-2.0
// 16-bit and 8-bit elements move as vectors of i32 and are taken apart with
// shifts: vectors of them would be split again by LLVM.
#include "compiler/codegen/VectorAccess.h"
#include "compiler/codegen/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

constexpr int64_t kVectorBytes = 16;

struct Access {
  Operation *op;
  Value buffer, offset;
  IndexForm form;

  int64_t bytes() const {
    return cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
  }
  Type element() const {
    return cast<MemRefType>(buffer.getType()).getElementType();
  }
};

bool isDivisible(const IndexForm &form, int64_t by) {
  return form.constant % by == 0 && llvm::all_of(form.terms, [&](auto term) {
           return term.second % by == 0;
         });
}

class Merger {
public:
  Merger(IndexForms &forms) : forms(forms) {}

  /// `accesses` differ from each other in the constant of their offsets only;
  /// ascending, no duplicates.
  void mergeRuns(ArrayRef<Access> accesses, bool isLoad) {
    int64_t longest = kVectorBytes / accesses[0].bytes();
    for (size_t i = 0; i < accesses.size();) {
      size_t step = 1;
      for (int64_t length = longest; length > 1; length /= 2) {
        bool fits = i + length <= accesses.size() &&
                    length * accesses[0].bytes() >= 4 &&
                    isDivisible(accesses[i].form, length) &&
                    accesses[i + length - 1].form.constant ==
                        accesses[i].form.constant + length - 1;
        if (!fits)
          continue;
        ArrayRef<Access> run = accesses.slice(i, length);
        isLoad ? mergeLoads(run) : mergeStores(run);
        step = length;
        break;
      }
      i += step;
    }
  }

private:
  Value address(ImplicitLocOpBuilder &b, const Access &first) {
    Type pointer = LLVM::LLVMPointerType::get(b.getContext());
    Value base = b.create<UnrealizedConversionCastOp>(pointer, first.buffer)
                     .getResult(0);
    Value offset = forms.materialize(b, b.getLoc(), first.form);
    offset = b.create<arith::IndexCastUIOp>(b.getI64Type(), offset);
    Type unit = b.getIntegerType(static_cast<unsigned>(first.bytes() * 8));
    return b.create<LLVM::GEPOp>(
        pointer, unit, base, ArrayRef<LLVM::GEPArg>{offset}, /*inbounds=*/true);
  }

  /// Words that hold `count` elements: of the element's size if that is 32 bits
  /// or more, else i32.
  std::pair<Type, int64_t> words(ImplicitLocOpBuilder &b, const Access &first,
                                 int64_t count) {
    int64_t bytes = std::max<int64_t>(4, first.bytes());
    return {b.getIntegerType(static_cast<unsigned>(bytes * 8)),
            count * first.bytes() / bytes};
  }
  Type vectorOf(Type word, int64_t count) {
    return count == 1 ? word : Type(VectorType::get({count}, word));
  }
  Value constant(ImplicitLocOpBuilder &b, int64_t value) {
    return b.create<LLVM::ConstantOp>(
        b.getI32Type(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  void mergeLoads(ArrayRef<Access> run) {
    Operation *first = run.front().op;
    bool invariant = true;
    for (const Access &access : run) {
      first = access.op->isBeforeInBlock(first) ? access.op : first;
      invariant &= access.op->hasAttr(kInvariant);
    }
    ImplicitLocOpBuilder b(first->getLoc(), first);
    auto [word, count] = words(b, run[0], run.size());
    auto load = b.create<LLVM::LoadOp>(
        vectorOf(word, count), address(b, run[0]), run.size() * run[0].bytes());
    load.setInvariant(invariant);
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(
          count == 1 ? load.getResult()
                     : b.create<LLVM::ExtractElementOp>(load, constant(b, i))
                           .getResult());
    int64_t bits = run[0].bytes() * 8;
    for (auto [i, access] : llvm::enumerate(run)) {
      Value part =
          parts[i * run[0].bytes() / (word.getIntOrFloatBitWidth() / 8)];
      int64_t shift =
          static_cast<int64_t>(i) * bits % word.getIntOrFloatBitWidth();
      if (shift)
        part = b.create<LLVM::LShrOp>(part, constant(b, shift));
      if (bits < 32)
        part = b.create<LLVM::TruncOp>(b.getIntegerType(bits), part);
      if (part.getType() != access.element())
        part = b.create<arith::BitcastOp>(access.element(), part);
      access.op->getResult(0).replaceAllUsesWith(part);
    }
    for (const Access &access : run)
      access.op->erase();
  }

  /// Two 16-bit floats in an i32; the pair is rounded by one instruction.
  Value pack(ImplicitLocOpBuilder &b, ArrayRef<Value> values) {
    Type element = values[0].getType();
    if (element.getIntOrFloatBitWidth() >= 32)
      return isa<FloatType>(element)
                 ? b.create<arith::BitcastOp>(b.getI32Type(), values[0])
                       .getResult()
                 : values[0];
    if (auto narrowed = values[0].getDefiningOp<arith::TruncFOp>()) {
      Value pair =
          b.create<LLVM::UndefOp>(VectorType::get({2}, b.getF32Type()));
      for (auto [i, v] : llvm::enumerate(values))
        pair = b.create<LLVM::InsertElementOp>(
            pair, Value(v).getDefiningOp<arith::TruncFOp>().getIn(),
            constant(b, i));
      pair = b.create<arith::TruncFOp>(VectorType::get({2}, element), pair);
      return b.create<LLVM::BitcastOp>(b.getI32Type(), pair);
    }
    Value word;
    for (auto [i, value] : llvm::enumerate(values)) {
      Value v = value;
      Type bits = b.getIntegerType(element.getIntOrFloatBitWidth());
      v = isa<FloatType>(element)
              ? b.create<arith::BitcastOp>(bits, v).getResult()
              : v;
      v = b.create<LLVM::ZExtOp>(b.getI32Type(), v);
      if (i)
        v = b.create<LLVM::ShlOp>(
            v, constant(b, i * bits.getIntOrFloatBitWidth()));
      word = word ? b.create<LLVM::OrOp>(word, v).getResult() : v;
    }
    return word;
  }

  void mergeStores(ArrayRef<Access> run) {
    Operation *last = run.front().op;
    for (const Access &access : run)
      last = last->isBeforeInBlock(access.op) ? access.op : last;
    ImplicitLocOpBuilder b(last->getLoc(), last);
    auto [word, count] = words(b, run[0], run.size());
    size_t each = run.size() / count;
    Value vector =
        count == 1 ? Value()
                   : b.create<LLVM::UndefOp>(vectorOf(word, count)).getResult();
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> values;
      for (size_t k = 0; k < each; ++k)
        values.push_back(run[i * each + k].op->getOperand(0));
      Value packed = pack(b, values);
      vector = count == 1 ? packed
                          : b.create<LLVM::InsertElementOp>(vector, packed,
                                                            constant(b, i))
                                .getResult();
    }
    b.create<LLVM::StoreOp>(vector, address(b, run[0]),
                            run.size() * run[0].bytes());
    for (const Access &access : run)
      access.op->erase();
  }

  IndexForms &forms;
};

void mergeInBlock(Block &block, IndexForms &forms) {
  using Key = std::tuple<bool, void *, IndexForm>;
  std::map<Key, std::map<int64_t, Access>> groups;
  std::vector<Key> order;
  auto add = [&](bool isLoad, Access access) {
    if (cast<MemRefType>(access.buffer.getType()).getMemorySpaceAsInt() != 0 ||
        access.element().isF64())
      return;
    IndexForm base = access.form;
    base.constant = 0;
    Key key{isLoad, access.buffer.getAsOpaquePointer(), base};
    if (groups.find(key) == groups.end())
      order.push_back(key);
    groups[key].try_emplace(access.form.constant, access);
  };
  for (Operation &op : block) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      add(true, {&op, load.getMemref(), load.getIndices()[0],
                 forms.of(load.getIndices()[0])});
    if (auto store = dyn_cast<memref::StoreOp>(op))
      add(false, {&op, store.getMemref(), store.getIndices()[0],
                  forms.of(store.getIndices()[0])});
  }
  for (const Key &key : order) {
    SmallVector<Access> accesses;
    for (auto &[constant, access] : groups[key])
      accesses.push_back(access);
    if (accesses.size() > 1)
      Merger(forms).mergeRuns(accesses, std::get<0>(key));
  }
}

} // namespace

void mergeAccesses(Operation *root, IndexForms &forms) {
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    mergeInBlock(*block, forms);
}

} // namespace halftone::codegen
