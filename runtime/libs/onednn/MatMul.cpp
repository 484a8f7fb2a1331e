// SPDX-License-Identifier: Apache-2.0
// Matrix products by oneDNN.
#include "runtime/libs/onednn/StagedCall.h"

namespace halftone::runtime::onednn {
namespace {

using dnnl::memory;

size_t lowBytes(int64_t elements) {
  return static_cast<size_t>(elements) * sizeof(uint16_t);
}

dnnl::matmul::primitive_desc describeMatMul(const dnnl::engine &engine,
                                            const memory::desc &a,
                                            const memory::desc &b,
                                            const memory::desc &bias,
                                            const memory::desc &c) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, c, strictAttributes()};
#else
  return {dnnl::matmul::desc(a, b, bias, c), strictAttributes(), engine};
#endif
}

/// One operand of a batched product: a stack of row-major matrices.
struct Stack {
  int64_t batch, rows, columns, stride;
  bool transposed; ///< The stored matrix is columns x rows.

  memory::desc desc() const {
    int64_t step = batch > 1 ? stride : rows * columns;
    return {{batch, rows, columns},
            kFloat,
            transposed ? Dims{step, 1, rows} : Dims{step, columns, 1}};
  }
  int64_t extent() const { return (batch - 1) * stride + rows * columns; }
  /// Whether oneDNN can take the whole stack at once.
  bool regular() const { return batch == 1 || stride >= rows * columns; }
};

Place advanced(Place place, int64_t elements) {
  if (place.address)
    return {static_cast<float *>(place.address) + elements, 0};
  return {nullptr, place.scratch + static_cast<uint64_t>(elements) * 4};
}

void buildMatMul(StagedCall &call, const MatMulGeometry &g,
                 const MatMulAddresses &addresses) {
  const MatMul &p = g.shape;
  Stack a{p.strideA ? p.batch : 1, p.m, p.k, p.strideA, p.transposeA};
  Stack b{p.strideB ? p.batch : 1, p.k, p.n, p.strideB, p.transposeB};
  Stack c{p.batch, p.m, p.n, p.strideC, false};
  Place placeA = call.widened(g.typeA, addresses.a, a.extent());
  Place placeB = call.widened(g.typeB, addresses.b, b.extent());
  Place placeC = call.unrounded(g.typeC, addresses.c, c.extent());
  memory::desc biasDesc;
  if (p.bias)
    biasDesc = {{1, 1, p.n}, kFloat, Dims{p.n, p.n, 1}};
  memory bias =
      p.bias ? call.at(biasDesc, call.widened(g.typeBias, addresses.bias, p.n))
             : memory();

  // Overlapping stacks, and results that all are equal, go matrix by matrix.
  bool whole =
      a.regular() && b.regular() && std::max(a.batch, b.batch) == c.batch;
  int64_t pieces = whole ? 1 : c.batch;
  if (!whole)
    a.batch = b.batch = c.batch = 1;
  auto description =
      describeMatMul(call.engine, a.desc(), b.desc(), biasDesc, c.desc());
  dnnl::matmul primitive(description);
  memory pad = call.inScratch(description.scratchpad_desc());
  for (int64_t i = 0; i < pieces; ++i) {
    Arguments arguments{
        {DNNL_ARG_SRC, call.at(a.desc(), advanced(placeA, i * p.strideA))},
        {DNNL_ARG_WEIGHTS, call.at(b.desc(), advanced(placeB, i * p.strideB))},
        {DNNL_ARG_DST, call.at(c.desc(), advanced(placeC, i * p.strideC))},
        {DNNL_ARG_SCRATCHPAD, pad}};
    if (p.bias)
      arguments.emplace(DNNL_ARG_BIAS, bias);
    call.add(primitive, std::move(arguments));
  }

  // Gaps between results are not ours to write.
  bool gapless = p.batch == 1 || p.strideC == p.m * p.n;
  int64_t runs = gapless ? 1 : p.batch, count = p.m * p.n;
  for (int64_t i = 0; i < runs; ++i)
    call.rounded(g.typeC, advanced(placeC, i * p.strideC),
                 static_cast<std::byte *>(addresses.c) +
                     lowBytes(i * p.strideC),
                 gapless ? p.batch * count : count);
}

} // namespace

Result<std::unique_ptr<LibraryCall>>
prepareMatMul(const MatMulGeometry &geometry,
              const MatMulAddresses &addresses) {
  return StagedCall::make(geometry.operations(), [&](StagedCall &call) {
    if (!geometry.empty())
      buildMatMul(call, geometry, addresses);
  });
}

} // namespace halftone::runtime::onednn
