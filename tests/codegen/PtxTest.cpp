// SPDX-License-Identifier: Apache-2.0
// What can be said of CUDA kernels without a GPU: their launch, the width of
// their accesses, and that ptxas accepts them.
#include "tests/codegen/KernelHarness.h"
#include <gtest/gtest.h>

using namespace halftone;
using namespace halftone::testing;

namespace {

size_t count(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++n;
  return n;
}

std::string pointwise(const std::string &type) {
  return kernelText("k", "pointwise", "%x: " + type + ", %y: " + type,
                    "%a = graph.mul %x, %y : (" + type + ", " + type + ") -> " +
                        type + "\n%b = graph.tanh %a : (" + type + ") -> " +
                        type,
                    "%b", type);
}

void expectAssembles(const std::string &ptx) {
  bool ran = false;
  std::string messages = assemble(ptx, ran);
  EXPECT_EQ(messages, "") << ptx.substr(0, 4000);
}

TEST(Ptx, MovesSixteenBytesAtOnce) {
  for (const char *type : {"tensor<4096x768xf32>", "tensor<4096x768xbf16>",
                           "tensor<4096x768xf16>"}) {
    KernelModule module(pointwise(type));
    ASSERT_TRUE(module);
    std::string ptx = module.ptx();
    ASSERT_NE(ptx, "") << module.diagnostic;
    EXPECT_EQ(count(ptx, "ld.global.nc.v4"), 2u) << ptx;
    EXPECT_EQ(count(ptx, "st.global.v4"), 1u) << ptx;
    EXPECT_EQ(count(ptx, "ld.global"), 2u);
    EXPECT_EQ(count(ptx, "st.global"), 1u);
    EXPECT_EQ(count(ptx, "__nv_"), 0u);
    EXPECT_NE(ptx.find(".maxntid 256, 1, 1"), std::string::npos);
    expectAssembles(ptx);
  }
}

TEST(Ptx, TailsAndOddRows) {
  for (const char *type :
       {"tensor<5000xf32>", "tensor<4099xbf16>", "tensor<7x33xf16>",
        "tensor<1xf32>", "tensor<3xbf16>"}) {
    KernelModule module(pointwise(type));
    std::string ptx = module.ptx();
    ASSERT_NE(ptx, "") << module.diagnostic;
    expectAssembles(ptx);
  }
}

TEST(Ptx, BroadcastRowIsAVectorToo) {
  KernelModule module(kernelText(
      "k", "pointwise", "%x: tensor<64x768xbf16>, %y: tensor<768xbf16>",
      "%a = graph.add %x, %y : (tensor<64x768xbf16>, tensor<768xbf16>) -> "
      "tensor<64x768xbf16>",
      "%a", "tensor<64x768xbf16>"));
  std::string ptx = module.ptx();
  EXPECT_EQ(count(ptx, "ld.global.nc.v4"), 2u) << ptx;
  expectAssembles(ptx);
}

} // namespace
