// SPDX-License-Identifier: Apache-2.0
// cuBLASLt thinks column by column. Row-major C = A B is, read by columns,
// C' = B' A': the operands change places, and each keeps its own transposition.
// A bias comes with the product's epilogue, except where rows do not start at
// multiples of 16 bytes: for such bfloat16 matrices cuBLASLt 13.1 chooses
// kernels that round before they add it. There it is written to C first, and
// the product adds itself to that.
#include "runtime/libs/cublaslt/MatMulCall.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace halftone::runtime::cublaslt {
namespace {

/// What NVIDIA advises for Hopper.
constexpr uint64_t kMaxWorkspace = 32 << 20;
constexpr uint32_t kMaxAlignment = 256;

cudaDataType_t dataType(ElementType type) {
  return type == ElementType::F16    ? CUDA_R_16F
         : type == ElementType::BF16 ? CUDA_R_16BF
                                     : CUDA_R_32F;
}

uint32_t alignmentOf(const void *address) {
  auto bits = reinterpret_cast<uintptr_t>(address);
  uintptr_t lowest = bits & (~bits + 1);
  return lowest == 0 ? kMaxAlignment
                     : static_cast<uint32_t>(
                           std::min<uintptr_t>(lowest, kMaxAlignment));
}

/// Whether every row of every matrix and the bias start at multiples of 16
/// bytes.
bool isAligned(const MatMulGeometry &g, const MatMulAddresses &at) {
  constexpr uint64_t kBytes = 16;
  const MatMul &p = g.shape;
  auto aligned = [](const void *address, ElementType type, int64_t row,
                    int64_t stride) {
    uint64_t size = elementSize(type);
    return (reinterpret_cast<uintptr_t>(address) |
            static_cast<uint64_t>(row) * size |
            static_cast<uint64_t>(stride) * size) %
               kBytes ==
           0;
  };
  return aligned(at.a, g.typeA, p.transposeA ? p.m : p.k, p.strideA) &&
         aligned(at.b, g.typeB, p.transposeB ? p.k : p.n, p.strideB) &&
         aligned(at.c, g.typeC, p.n, p.strideC) &&
         aligned(at.bias, g.typeBias, 0, 0);
}

/// Writes the bias to every row of C, which lie one behind the other.
struct BiasRows {
  ElementType typeBias, typeC;
  int64_t rows, columns;

  /// Rows that one copy takes: its elements are counted in 31 bits.
  int64_t chunk() const { return INT32_MAX / columns; }
  cuda::TensorCopy copy(int64_t count) const {
    std::array<int32_t, 5> sizes{1, 1, 1, static_cast<int32_t>(count),
                                 static_cast<int32_t>(columns)};
    return {.source = {typeBias, sizes, {0, 0, 0, 0, 1}},
            .destination = {typeC, sizes, {0, 0, 0, sizes[4], 1}},
            .offset = {}};
  }
};

Result<BiasRows> biasRowsOf(const MatMulGeometry &g) {
  const MatMul &p = g.shape;
  bool dense = p.batch == 1 || p.strideC == p.m * p.n;
  if (!dense || p.n > INT32_MAX)
    return unsupported("a bias cannot be added to rows that lie apart or have "
                       "more than 2^31 elements; compile the plan with "
                       "--color NODE=fp32");
  return BiasRows{g.typeBias, g.typeC, p.batch * p.m, p.n};
}

class Call final : public MatMulCall {
public:
  Call(Handle &handle, const MatMulAddresses &addresses)
      : library(handle.library), handle(handle.handle), copier(handle.copier),
        at(addresses) {}
  ~Call() override {
    if (operation)
      library.matmulDescDestroy(operation);
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      if (layout)
        library.matrixLayoutDestroy(layout);
  }

  Status prepare(const MatMulGeometry &geometry);
  uint64_t workspaceBytes() const override { return choice.workspaceSize; }
  Status run(void *workspace, CUstream stream) override;

private:
  Status describeOperation(const MatMulGeometry &geometry);
  Status describeMatrices(const MatMulGeometry &geometry);
  Status describe(cublasLtMatrixLayout_t &layout, ElementType type,
                  int64_t rows, int64_t columns, const MatMul &p,
                  int64_t stride);
  Status choose(const MatMulGeometry &geometry);
  Status writeBias(CUstream stream);
  Status set(cublasLtMatmulDescAttributes_t attribute, const auto &value) {
    return toStatus(library,
                    library.matmulDescSetAttribute(
                        operation, attribute, static_cast<const void *>(&value),
                        sizeof value),
                    "describing a product");
  }

  const Library &library;
  cublasLtHandle_t handle;
  cuda::TensorCopier &copier;
  MatMulAddresses at;
  std::optional<BiasRows> biasFirst;
  cublasLtMatmulDesc_t operation = nullptr;
  // In cuBLASLt's order: first is the plan's B.
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulHeuristicResult_t choice{};
};

Status Call::describeOperation(const MatMulGeometry &g) {
  cublasComputeType_t compute = g.shape.tf32 && g.typeA == ElementType::F32
                                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                                    : CUBLAS_COMPUTE_32F;
  HALFTONE_RETURN_IF_ERROR(toStatus(
      library, library.matmulDescCreate(&operation, compute, CUDA_R_32F),
      "describing a product"));
  auto turned = [](bool transpose) -> int32_t {
    return transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  HALFTONE_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_DESC_TRANSA, turned(g.shape.transposeB)));
  HALFTONE_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_DESC_TRANSB, turned(g.shape.transposeA)));
  if (!g.bias || biasFirst)
    return {};
  auto epilogue = static_cast<uint32_t>(CUBLASLT_EPILOGUE_BIAS);
  HALFTONE_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  HALFTONE_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, at.bias));
  auto type = static_cast<int32_t>(dataType(g.typeBias));
  return set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
}

/// Dense, column by column, `rows` x `columns`.
Status Call::describe(cublasLtMatrixLayout_t &layout, ElementType type,
                      int64_t rows, int64_t columns, const MatMul &p,
                      int64_t stride) {
  constexpr const char *kWhat = "describing a matrix";
  HALFTONE_RETURN_IF_ERROR(
      toStatus(library,
               library.matrixLayoutCreate(&layout, dataType(type),
                                          static_cast<uint64_t>(rows),
                                          static_cast<uint64_t>(columns), rows),
               kWhat));
  if (p.batch == 1)
    return {};
  auto count = static_cast<int32_t>(p.batch);
  HALFTONE_RETURN_IF_ERROR(toStatus(
      library,
      library.matrixLayoutSetAttribute(
          layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
      kWhat));
  return toStatus(library,
                  library.matrixLayoutSetAttribute(
                      layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                      &stride, sizeof stride),
                  kWhat);
}

Status Call::describeMatrices(const MatMulGeometry &g) {
  const MatMul &p = g.shape;
  HALFTONE_RETURN_IF_ERROR(describe(first, g.typeB, p.transposeB ? p.k : p.n,
                                    p.transposeB ? p.n : p.k, p, p.strideB));
  HALFTONE_RETURN_IF_ERROR(describe(second, g.typeA, p.transposeA ? p.m : p.k,
                                    p.transposeA ? p.k : p.m, p, p.strideA));
  return describe(result, g.typeC, p.n, p.m, p, p.strideC);
}

Status Call::choose(const MatMulGeometry &g) {
  cublasLtMatmulPreference_t preference = nullptr;
  HALFTONE_RETURN_IF_ERROR(toStatus(
      library, library.preferenceCreate(&preference), "choosing an algorithm"));
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                    auto value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = library.preferenceSetAttribute(preference, attribute, &value,
                                              sizeof value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspace);
  // Parts of a split sum are added in float32, never in the type of C.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignmentOf(at.b));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignmentOf(at.a));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignmentOf(at.c));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignmentOf(at.c));
  int found = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = library.algoGetHeuristic(handle, operation, first, second, result,
                                      result, preference, 1, &choice, &found);
  library.preferenceDestroy(preference);
  if (status == CUBLAS_STATUS_SUCCESS &&
      (found == 0 || choice.state != CUBLAS_STATUS_SUCCESS))
    status = CUBLAS_STATUS_NOT_SUPPORTED;
  std::string types = fmt::format("{} and {} to {}", elementName(g.typeA),
                                  elementName(g.typeB), elementName(g.typeC));
  if (g.bias)
    types += fmt::format(" with a bias of {}", elementName(g.typeBias));
  return toStatus(library, status, "choosing a product of " + types);
}

Status Call::prepare(const MatMulGeometry &geometry) {
  if (geometry.bias && geometry.typeC != ElementType::F32 &&
      geometry.typeBias == geometry.typeC && !isAligned(geometry, at)) {
    auto rows = biasRowsOf(geometry);
    HALFTONE_RETURN_IF_ERROR(rows);
    biasFirst = *rows;
    HALFTONE_RETURN_IF_ERROR(copier.prepare(biasFirst->copy(1)));
  }
  HALFTONE_RETURN_IF_ERROR(describeOperation(geometry));
  HALFTONE_RETURN_IF_ERROR(describeMatrices(geometry));
  return choose(geometry);
}

Status Call::writeBias(CUstream stream) {
  const BiasRows &bias = *biasFirst;
  int64_t chunk = bias.chunk();
  auto *c = static_cast<std::byte *>(at.c);
  for (int64_t row = 0; row < bias.rows; row += chunk) {
    uint64_t before = static_cast<uint64_t>(row * bias.columns);
    HALFTONE_RETURN_IF_ERROR(
        copier.run(bias.copy(std::min(chunk, bias.rows - row)), at.bias,
                   c + before * elementSize(bias.typeC), stream));
  }
  return {};
}

Status Call::run(void *workspace, CUstream stream) {
  constexpr float kOne = 1, kZero = 0;
  if (biasFirst)
    HALFTONE_RETURN_IF_ERROR(writeBias(stream));
  return toStatus(library,
                  library.matmul(handle, operation, &kOne, at.b, first, at.a,
                                 second, biasFirst ? &kOne : &kZero, at.c,
                                 result, at.c, result, &choice.algo, workspace,
                                 choice.workspaceSize, stream),
                  "running a product");
}

} // namespace

Result<std::unique_ptr<Handle>> Handle::open(const cuda::Driver &driver) {
  auto library = loadLibrary();
  HALFTONE_RETURN_IF_ERROR(library);
  cublasLtHandle_t handle = nullptr;
  HALFTONE_RETURN_IF_ERROR(toStatus(**library, (*library)->create(&handle),
                                    "starting (it needs a driver of its own "
                                    "CUDA version, and free GPU memory)"));
  return std::unique_ptr<Handle>(new Handle(**library, handle, driver));
}

Handle::~Handle() { library.destroy(handle); }

Result<std::unique_ptr<MatMulCall>>
prepareMatMul(Handle &handle, const MatMulGeometry &geometry,
              const MatMulAddresses &addresses) {
  if (geometry.shape.batch > INT32_MAX)
    return unsupported("a batch of more than 2^31 products; use a smaller one");
  auto call = std::make_unique<Call>(handle, addresses);
  HALFTONE_RETURN_IF_ERROR(call->prepare(geometry));
  return std::unique_ptr<MatMulCall>(std::move(call));
}

} // namespace halftone::runtime::cublaslt
