// SPDX-License-Identifier: Apache-2.0
// Each kernel is a body in the middle of a fixed frame: one thread or one
// iteration for an element.
#include "tests/device/TestKernels.h"

#include <fmt/format.h>

namespace halftone::runtime::test {
namespace {

struct PtxBody {
  int pointers;
  std::string text; ///< The element's index in %r1; addresses in %rd1...
  int elementBytes = 4;
  std::string before = ""; ///< Declarations outside the function.
};

PtxBody ptxBody(const std::string &name) {
  if (name == "axpy")
    return {3, R"(
  ld.global.f32 %f1, [%rd1];
  ld.global.f32 %f2, [%rd2];
  mul.rn.f32 %f3, %f1, 0f3DCCCCCD;
  add.rn.f32 %f4, %f3, %f2;
  st.global.f32 [%rd3], %f4;)"};
  if (name == "increment")
    return {1, R"(
  ld.global.f32 %f1, [%rd1];
  add.rn.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd1], %f2;)"};
  if (name == "half")
    return {2, R"(
  ld.global.b16 %h1, [%rd1];
  cvt.f32.f16 %f1, %h1;
  mul.rn.f32 %f2, %f1, 0f3E99999A;
  cvt.rn.f16.f32 %h2, %f2;
  st.global.b16 [%rd2], %h2;)",
            2};
  if (name == "bfloat")
    return {2, R"(
  ld.global.b16 %h1, [%rd1];
  mov.b32 %f1, {0, %h1};
  mul.rn.f32 %f2, %f1, 0f3E99999A;
  cvt.rn.bf16.f32 %h2, %f2;
  st.global.b16 [%rd2], %h2;)",
            2};
  return {1, "\n  call nobody_defines_this;", 4,
          ".extern .func nobody_defines_this;\n"};
}

} // namespace

std::string ptxCode(const std::string &name, int64_t count) {
  PtxBody body = ptxBody(name);
  std::string parameters, addresses;
  for (int i = 1; i <= body.pointers; ++i) {
    parameters += fmt::format("{}.param .u64 p{}", i > 1 ? ", " : "", i);
    addresses += fmt::format(R"(
  ld.param.u64 %rd{0}, [p{0}];
  cvta.to.global.u64 %rd{0}, %rd{0};
  mad.wide.u32 %rd{0}, %r1, {1}, %rd{0};)",
                             i, body.elementBytes);
  }
  return fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
{}.visible .entry {}({}) {{
  .reg .pred %p1;
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  .reg .f32 %f<5>;
  .reg .b16 %h<3>;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r1, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r1, {};
  @%p1 bra END;{}{}
END:
  ret;
}}
)",
                     body.before, name, parameters, count, addresses,
                     body.text);
}

std::string kernelCode(const std::string &target, const std::string &name,
                       int64_t count) {
#if HALFTONE_HAS_CPU
  if (target == "cpu")
    return bitcode(name);
#endif
  return ptxCode(name, count);
}

} // namespace halftone::runtime::test
