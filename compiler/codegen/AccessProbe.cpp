// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/AccessProbe.h"
#include "compiler/codegen/Storage.h"
#include "compiler/graph/GraphOps.h"

using namespace mlir;

namespace halftone::codegen {

int64_t Space::size() const { return graph::numElements(extents); }

SmallVector<Value> Space::expand(OpBuilder &b, Location loc,
                                 ValueRange index) const {
  ScalarBuilder builder(b, loc);
  SmallVector<Value> full;
  for (auto [i, run] : llvm::zip_equal(index, runs))
    llvm::append_range(
        full, builder.delinearize(i, ArrayRef(domain).slice(
                                         run.first, run.second - run.first)));
  return full;
}

AccessProbe::AccessProbe(graph::FusedOp fused, ArrayRef<int64_t> domain,
                         ArrayRef<unsigned> outputs)
    : fused(fused), domain(domain) {
  Location loc = fused.getLoc();
  scratch = ModuleOp::create(loc);
  block = new Block();
  // A region of any op will do; nothing verifies it.
  scratch->getBodyRegion().push_back(block);
  OpBuilder b = OpBuilder::atBlockEnd(block);
  SmallVector<Value> buffers;
  for (Value v : fused.getInputs())
    buffers.push_back(block->addArgument(
        bufferType(cast<RankedTensorType>(v.getType())), loc));
  for (Value v : fused.getOutputs())
    buffers.push_back(block->addArgument(
        bufferType(cast<RankedTensorType>(v.getType())), loc));
  SmallVector<Value> index;
  for (int64_t extent : domain) {
    if (extent == 1) {
      index.push_back(b.create<arith::ConstantIndexOp>(loc, 0));
      atoms.push_back(~0u);
      continue;
    }
    index.push_back(block->addArgument(b.getIndexType(), loc));
    forms.setRange(index.back(), 0, std::max<int64_t>(0, extent - 1));
    atoms.push_back(forms.atomOf(index.back()));
  }
  pull = std::make_unique<Pull>(
      fused, buffers, SmallVector<bool>(fused.getInputs().size(), false),
      forms);
  pull->setReader([loc](OpBuilder &at, Value v, ValueRange) -> Value {
    if (!isa<ReductionOpInterface>(v.getDefiningOp()))
      return {};
    return at.create<arith::ConstantOp>(
        loc,
        cast<TypedAttr>(at.getZeroAttr(scalarType(graph::elementTypeOf(v)))));
  });
  Block &body = fused.getBody().front();
  ScalarBuilder builder(b, loc);
  for (Operation &op : body)
    if (isa<ReductionOpInterface>(op))
      pull->at(builder.b, op.getOperand(0),
               builder.broadcastIndex(index, graph::shapeOf(op.getOperand(0))));
  pull->storeOutputs(builder.b, outputs, index);
  collectForms();
}

AccessProbe::~AccessProbe() = default;

void AccessProbe::collectForms() {
  loads.resize(block->getNumArguments());
  stores.resize(block->getNumArguments());
  std::vector<unsigned> quotients;
  auto use = [&](const IndexForm &form) {
    used.push_back(form);
    for (size_t n = used.size() - 1; n < used.size(); ++n)
      for (auto [id, c] : IndexForm(used[n]).terms)
        if (!forms.atom(id).value && !llvm::is_contained(quotients, id)) {
          quotients.push_back(id);
          used.push_back(forms.atom(id).dividend);
        }
  };
  block->walk([&](Operation *op) {
    if (IndexForms::isLinear(op))
      return;
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex())
        use(forms.of(operand));
    if (auto load = dyn_cast<memref::LoadOp>(op))
      loads[cast<BlockArgument>(load.getMemref()).getArgNumber()].push_back(
          forms.of(load.getIndices()[0]));
    if (auto store = dyn_cast<memref::StoreOp>(op))
      stores[cast<BlockArgument>(store.getMemref()).getArgNumber()].push_back(
          forms.of(store.getIndices()[0]));
  });
}

Space AccessProbe::collapse(ArrayRef<bool> kind) const {
  Space space;
  space.domain = domain;
  auto merges = [&](unsigned outer, unsigned inner) {
    if (!kind.empty() && kind[outer] != kind[inner])
      return false;
    return llvm::all_of(used, [&](const IndexForm &form) {
      return form.coefficient(atoms[outer]) ==
             form.coefficient(atoms[inner]) * domain[inner];
    });
  };
  std::optional<unsigned>
      last; // The run's last dimension that is not of extent 1.
  for (unsigned d = 0; d < domain.size(); ++d) {
    bool join = d > 0 && (domain[d] == 1 || !last || merges(*last, d));
    if (domain[d] != 1)
      last = d;
    if (join) {
      space.runs.back().second = d + 1;
      space.extents.back() *= domain[d];
    } else {
      space.runs.push_back({d, d + 1});
      space.extents.push_back(domain[d]);
    }
    if (!kind.empty() && domain[d] != 1)
      space.kinds.resize(space.runs.size(), kind[d]);
  }
  if (space.runs.empty()) {
    space.runs.push_back({0, 0});
    space.extents.push_back(1);
  }
  space.kinds.resize(space.runs.size(), false);
  return space;
}

bool AccessProbe::readsOnlyWhereWritten(unsigned input, unsigned output) const {
  graph::FusedOp region = fused;
  const auto &written = stores[region.getInputs().size() + output];
  return written.size() == 1 &&
         cast<MemRefType>(block->getArgument(input).getType()) ==
             block->getArgument(region.getInputs().size() + output).getType() &&
         llvm::all_of(loads[input], [&](const IndexForm &form) {
           return form == written[0];
         });
}

SmallVector<SmallVector<unsigned>> AccessProbe::reusable() const {
  graph::FusedOp region = fused;
  SmallVector<SmallVector<unsigned>> result(region.getOutputs().size());
  for (auto [o, output] : llvm::enumerate(region.getOutputs()))
    for (auto [i, input] : llvm::enumerate(region.getInputs()))
      if (graph::elementTypeOf(input) == graph::elementTypeOf(output) &&
          readsOnlyWhereWritten(i, o))
        result[o].push_back(i);
  return result;
}

} // namespace halftone::codegen
