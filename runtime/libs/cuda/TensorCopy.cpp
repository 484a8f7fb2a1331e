// SPDX-License-Identifier: Apache-2.0
// One thread an element. The kernel is written out here, since the builds that
// need it have no compiler.
#include "runtime/libs/cuda/TensorCopy.h"

#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

constexpr uint32_t kThreads = 256;

/// As the kernel takes a dimension.
struct Dimension {
  int32_t size, stride, sourceSize, sourceStride, offset;
};

std::string loadText(ElementType type) {
  if (type == ElementType::F16)
    return "  ld.global.b16 %h1, [%rd1];\n  cvt.f32.f16 %f1, %h1;\n";
  if (type == ElementType::BF16)
    return "  ld.global.b16 %h1, [%rd1];\n  mov.b32 %f1, {0, %h1};\n";
  return "  ld.global.f32 %f1, [%rd1];\n";
}

std::string storeText(ElementType type) {
  if (type == ElementType::F16)
    return "  cvt.rn.f16.f32 %h1, %f1;\n  st.global.b16 [%rd2], %h1;\n";
  if (type == ElementType::BF16)
    return "  cvt.rn.bf16.f32 %h1, %f1;\n  st.global.b16 [%rd2], %h1;\n";
  return "  st.global.f32 [%rd2], %f1;\n";
}

/// Takes one coordinate off the index in %r1; adds to the offsets in %r4
/// (destination) and %r5 (source) and to the condition %p2.
std::string dimensionText(size_t dimension) {
  size_t at = dimension * sizeof(Dimension);
  return fmt::format(R"(  ld.param.u32 %r6, [dims+{}];
  ld.param.u32 %r8, [dims+{}];
  ld.param.u32 %r9, [dims+{}];
  ld.param.u32 %r10, [dims+{}];
  ld.param.u32 %r11, [dims+{}];
  rem.u32 %r7, %r1, %r6;
  div.u32 %r1, %r1, %r6;
  mad.lo.u32 %r4, %r7, %r8, %r4;
  add.s32 %r7, %r7, %r11;
  setp.lt.and.u32 %p2, %r7, %r9, %p2;
  mad.lo.u32 %r5, %r7, %r10, %r5;
)",
                     at, at + 4, at + 8, at + 12, at + 16);
}

} // namespace

std::string tensorCopyPtx(ElementType source, ElementType destination) {
  std::string dimensions;
  for (size_t i = 5; i-- > 0;)
    dimensions += dimensionText(i);
  return fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry tensor_copy(.param .u64 source, .param .u64 destination,
                            .param .u32 count, .param .align 4 .b8 dims[{}])
{{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<3>;
  .reg .f32 %f<2>;
  .reg .b16 %h<2>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r2, [count];
  setp.ge.u32 %p1, %r1, %r2;
  @%p1 bra END;
  mov.u32 %r4, 0;
  mov.u32 %r5, 0;
  setp.eq.u32 %p2, %r4, %r4;
{}  mov.f32 %f1, 0f00000000;
  @!%p2 bra STORE;
  ld.param.u64 %rd1, [source];
  cvta.to.global.u64 %rd1, %rd1;
  mad.wide.u32 %rd1, %r5, {}, %rd1;
{}STORE:
  ld.param.u64 %rd2, [destination];
  cvta.to.global.u64 %rd2, %rd2;
  mad.wide.u32 %rd2, %r4, {}, %rd2;
{}END:
  ret;
}}
)",
                     5 * sizeof(Dimension), dimensions, elementSize(source),
                     loadText(source), elementSize(destination),
                     storeText(destination));
}

Result<uint32_t> TensorCopy::count() const {
  auto elementsOf = [](const Side &side) {
    return elementCount(Shape(side.sizes.begin(), side.sizes.end()));
  };
  constexpr uint64_t kMax = INT32_MAX;
  auto from = elementsOf(source), to = elementsOf(destination);
  if (!from || !to || *from > kMax || *to > kMax)
    return unsupported("a tensor of more than 2^31 elements cannot be "
                       "rearranged; use a smaller batch");
  return static_cast<uint32_t>(*to);
}

Status TensorCopier::prepare(const TensorCopy &copy) {
  HALFTONE_RETURN_IF_ERROR(copy.count());
  auto key = std::pair(copy.source.type, copy.destination.type);
  if (kernels.contains(key))
    return {};
  auto module = loadModule(driver, tensorCopyPtx(key.first, key.second));
  HALFTONE_RETURN_IF_ERROR(module);
  auto function = module->function("tensor_copy");
  HALFTONE_RETURN_IF_ERROR(function);
  kernels.insert_or_assign(key, Kernel{std::move(*module), *function});
  return {};
}

Status TensorCopier::run(const TensorCopy &copy, const void *source,
                         void *destination, CUstream stream) {
  auto found = kernels.find({copy.source.type, copy.destination.type});
  auto count = copy.count();
  HALFTONE_RETURN_IF_ERROR(count);
  if (found == kernels.end())
    return failed("a tensor copy was not prepared");
  if (*count == 0)
    return {};
  std::array<Dimension, 5> dimensions;
  for (size_t i = 0; i < 5; ++i)
    dimensions[i] = {copy.destination.sizes[i], copy.destination.strides[i],
                     copy.source.sizes[i], copy.source.strides[i],
                     copy.offset[i]};
  uint32_t elements = *count;
  void *arguments[] = {static_cast<void *>(&source),
                       static_cast<void *>(&destination), &elements,
                       dimensions.data()};
  return toStatus(driver,
                  driver.launchKernel(found->second.function,
                                      (elements + kThreads - 1) / kThreads, 1,
                                      1, kThreads, 1, 1, 0, stream, arguments,
                                      nullptr),
                  "launching a tensor copy");
}

} // namespace halftone::runtime::cuda
