// SPDX-License-Identifier: Apache-2.0
// A memref is a bare pointer here, and loops are emitted with their test at the
// end, which carries the annotations.
#include "compiler/codegen/LowerToLLVM.h"
#include "compiler/codegen/Storage.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace halftone::codegen {
namespace {

/// The accesses of a function that carry kParallel.
LLVM::AccessGroupAttr parallelGroup(Operation *op) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  return function->getAttrOfType<LLVM::AccessGroupAttr>(kParallel);
}

struct LowerFor : OpConversionPattern<scf::ForOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(scf::ForOp loop, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = loop.getLoc();
    bool isParallel = loop->hasAttr(kParallelLoop);
    auto group = isParallel ? parallelGroup(loop) : LLVM::AccessGroupAttr();
    Block *before = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(before, rewriter.getInsertionPoint());
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(loop.getResultTypes(), types)))
      return failure();
    SmallVector<Location> locations(types.size(), loc);
    SmallVector<Value> results(after->addArguments(types, locations));

    Block *first = &loop.getRegion().front();
    auto yield = cast<scf::YieldOp>(loop.getRegion().back().getTerminator());
    rewriter.inlineRegionBefore(loop.getRegion(), after);
    TypeConverter::SignatureConversion signature(first->getNumArguments());
    Type indexType = adaptor.getLowerBound().getType();
    signature.addInputs(0, indexType);
    for (auto [i, type] : llvm::enumerate(types))
      signature.addInputs(i + 1, type);
    first = rewriter.applySignatureConversion(first, signature);

    rewriter.setInsertionPointToEnd(before);
    SmallVector<Value> start{adaptor.getLowerBound()};
    llvm::append_range(start, adaptor.getInitArgs());
    Value enter = rewriter.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::slt,
                                                adaptor.getLowerBound(),
                                                adaptor.getUpperBound());
    rewriter.create<LLVM::CondBrOp>(loc, enter, first, start, after,
                                    adaptor.getInitArgs());

    rewriter.setInsertionPoint(yield);
    SmallVector<Value> carried;
    if (failed(rewriter.getRemappedValues(yield.getOperands(), carried)))
      return failure();
    Value next = rewriter.create<LLVM::AddOp>(loc, first->getArgument(0),
                                              adaptor.getStep(),
                                              LLVM::IntegerOverflowFlags::nsw);
    Value more = rewriter.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::slt,
                                               next, adaptor.getUpperBound());
    SmallVector<Value> again{next};
    llvm::append_range(again, carried);
    auto branch = rewriter.create<LLVM::CondBrOp>(loc, more, first, again,
                                                  after, carried);
    if (group)
      branch.setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(
          rewriter.getContext(), {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
          /*mustProgress=*/rewriter.getBoolAttr(true), {}, {}, {}, group));
    rewriter.eraseOp(yield);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

Value elementAddress(ConversionPatternRewriter &rewriter, Location loc,
                     Value pointer, Value offset, Type element) {
  if (!offset.getType().isInteger(64))
    offset = rewriter.create<LLVM::ZExtOp>(loc, rewriter.getI64Type(), offset);
  return rewriter.create<LLVM::GEPOp>(loc, pointer.getType(), element, pointer,
                                      ArrayRef<LLVM::GEPArg>{offset},
                                      /*inbounds=*/true);
}

/// bf16 moves as i16: vectors of bf16 are no types of every processor.
Type movedType(Type element) {
  return element.isBF16() ? IntegerType::get(element.getContext(), 16)
                          : element;
}

template <typename Op> void annotate(Operation *from, Op to) {
  if (from->hasAttr(kParallel))
    if (auto group = parallelGroup(from))
      to.setAccessGroupsAttr(ArrayAttr::get(from->getContext(), group));
}

struct LowerLoad : OpConversionPattern<memref::LoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = op.getMemRefType().getElementType(),
         moved = movedType(element);
    Value address = elementAddress(rewriter, op.getLoc(), adaptor.getMemref(),
                                   adaptor.getIndices()[0], moved);
    auto load = rewriter.create<LLVM::LoadOp>(op.getLoc(), moved, address);
    load.setInvariant(op->hasAttr(kInvariant));
    annotate(op, load);
    Value result = load;
    if (moved != element)
      result = rewriter.create<LLVM::BitcastOp>(op.getLoc(), element, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerStore : OpConversionPattern<memref::StoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type element = op.getMemRefType().getElementType(),
         moved = movedType(element);
    Value address = elementAddress(rewriter, op.getLoc(), adaptor.getMemref(),
                                   adaptor.getIndices()[0], moved);
    Value value = adaptor.getValue();
    if (moved != element)
      value = rewriter.create<LLVM::BitcastOp>(op.getLoc(), moved, value);
    annotate(op, rewriter.create<LLVM::StoreOp>(op.getLoc(), value, address));
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerAlloca : OpConversionPattern<memref::AllocaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(memref::AllocaOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = op.getType();
    Value count = rewriter.create<LLVM::ConstantOp>(
        op.getLoc(), rewriter.getI64Type(), type.getNumElements());
    rewriter.replaceOpWithNewOp<LLVM::AllocaOp>(
        op, LLVM::LLVMPointerType::get(op.getContext()), type.getElementType(),
        count,
        /*alignment=*/64);
    return success();
  }
};

/// Pointer to memref: the same thing after conversion.
struct DropCast : OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getInputs());
    return success();
  }
};

struct WidenBfloat : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isBF16() || !op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value bits = rewriter.create<LLVM::BitcastOp>(loc, rewriter.getI16Type(),
                                                  adaptor.getIn());
    bits = rewriter.create<LLVM::ZExtOp>(loc, i32, bits);
    bits = rewriter.create<LLVM::ShlOp>(
        loc, bits, rewriter.create<LLVM::ConstantOp>(loc, i32, 16));
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

/// Round to nearest even in integers; NaN stays a (quiet) NaN.
struct NarrowToBfloat : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().isBF16() || !op.getIn().getType().isF32())
      return failure();
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    auto constant = [&](int64_t v) {
      return rewriter.create<LLVM::ConstantOp>(loc, i32,
                                               static_cast<int32_t>(v));
    };
    Value bits = rewriter.create<LLVM::BitcastOp>(loc, i32, adaptor.getIn());
    Value high = rewriter.create<LLVM::LShrOp>(loc, bits, constant(16));
    Value odd = rewriter.create<LLVM::AndOp>(loc, high, constant(1));
    Value half = rewriter.create<LLVM::AddOp>(loc, odd, constant(0x7fff));
    Value rounded = rewriter.create<LLVM::LShrOp>(
        loc, rewriter.create<LLVM::AddOp>(loc, bits, half), constant(16));
    Value isNaN = rewriter.create<LLVM::FCmpOp>(
        loc, LLVM::FCmpPredicate::uno, adaptor.getIn(), adaptor.getIn());
    Value quiet = rewriter.create<LLVM::OrOp>(loc, high, constant(0x40));
    Value result = rewriter.create<LLVM::SelectOp>(loc, isNaN, quiet, rounded);
    result = rewriter.create<LLVM::TruncOp>(loc, rewriter.getI16Type(), result);
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, op.getType(), result);
    return success();
  }
};

/// Casts there and back again, which conversion leaves where a loop carries an
/// index.
LogicalResult reconcileCasts(ModuleOp module) {
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  for (UnrealizedConversionCastOp op : casts)
    if (auto inner =
            op.getOperand(0).getDefiningOp<UnrealizedConversionCastOp>())
      if (inner.getOperand(0).getType() == op.getResult(0).getType())
        op.getResult(0).replaceAllUsesWith(inner.getOperand(0));
  for (UnrealizedConversionCastOp op : llvm::reverse(casts)) {
    if (!op.use_empty())
      return op.emitError("a value of type ")
             << op.getOperand(0).getType()
             << " is left where generated code needs "
             << op.getResult(0).getType();
    op.erase();
  }
  return success();
}

} // namespace

LogicalResult lowerToLLVM(ModuleOp module, const LoweringOptions &options) {
  MLIRContext *context = module.getContext();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    function->setDiscardableAttr(
        kParallel, LLVM::AccessGroupAttr::get(
                       context, DistinctAttr::create(UnitAttr::get(context))));

  LowerToLLVMOptions llvmOptions(context);
  llvmOptions.overrideIndexBitwidth(options.indexBits);
  LLVMTypeConverter types(context, llvmOptions);
  types.addConversion([](MemRefType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(),
                                      type.getMemorySpaceAsInt());
  });
  RewritePatternSet patterns(context);
  const PatternBenefit kFirst(10);
  patterns
      .add<LowerFor, LowerLoad, LowerStore, LowerAlloca, DropCast, WidenBfloat>(
          types, context, kFirst);
  if (!options.convertsBfloat)
    patterns.add<NarrowToBfloat>(types, context, kFirst);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);

  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addLegalOp<ModuleOp>();
  target.addIllegalOp<UnrealizedConversionCastOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  // A loop that carries an index leaves casts back to `index` that nobody
  // reads.
  module.walk([](UnrealizedConversionCastOp op) {
    if (op.use_empty())
      op.erase();
  });
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    function->removeDiscardableAttr(kParallel);
  return reconcileCasts(module);
}

} // namespace halftone::codegen
