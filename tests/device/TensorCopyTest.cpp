// SPDX-License-Identifier: Apache-2.0
// The copies around library calls: the kernels assemble, and the ways there and
// back fit each other.
#include "runtime/libs/cuda/TensorCopy.h"
#include "runtime/libs/cudnn/ConvolutionRoute.h"

#include <fstream>
#include <gtest/gtest.h>

namespace halftone::runtime::test {
namespace {

using enum ElementType;

TEST(TensorCopy, KernelsAssemble) {
  std::string ptxas = HALFTONE_PTXAS;
  if (ptxas.ends_with("NOTFOUND"))
    GTEST_SKIP() << "no ptxas";
  std::string file = testing::TempDir() + "tensor_copy.ptx";
  for (ElementType from : {F32, F16, BF16})
    for (ElementType to : {F32, F16, BF16}) {
      std::ofstream(file) << cuda::tensorCopyPtx(from, to);
      std::string command =
          ptxas + " -arch=sm_80 -o /dev/null " + file + " 2>&1";
      EXPECT_EQ(std::system(command.c_str()), 0);
    }
}

/// An NHWC convolution in one dimension with pads that differ.
ConvolutionGeometry uneven() {
  return {.direction = Convolution::Direction::Forward,
          .batch = 2,
          .channels = 3,
          .filters = 4,
          .group = 1,
          .input = {10},
          .kernel = {3},
          .output = {11},
          .strides = {1},
          .padsBegin = {2},
          .padsEnd = {1},
          .dilations = {1},
          .channelsLast = true,
          .tf32 = false,
          .x = 0,
          .w = 1,
          .y = 2,
          .typeX = F16,
          .typeW = F16,
          .typeY = F16};
}

TEST(ConvolutionRoute, AsIsNeedsNoDetour) {
  ConvolutionGeometry g = uneven();
  for (cudnn::Role role : {cudnn::X, cudnn::W, cudnn::Y})
    EXPECT_FALSE(cudnn::detourOf(g, {false, false, false}, role).needed);
  cudnn::Problem p = cudnn::problemOf(g, {false, false, false}, {16, 32, 64});
  EXPECT_EQ(p.tensors[cudnn::X].sizes, (Shape{2, 3, 1, 10}));
  EXPECT_EQ(p.tensors[cudnn::X].strides, (Shape{30, 1, 30, 3}));
  EXPECT_EQ(p.tensors[cudnn::X].alignment, 16);
  EXPECT_EQ(p.padsBegin, (Shape{0, 2}));
  EXPECT_EQ(p.padsEnd, (Shape{0, 1}));
}

TEST(ConvolutionRoute, PaddingGoesAroundAndComesOff) {
  ConvolutionGeometry g = uneven();
  cudnn::Detour x = cudnn::detourOf(g, {true, true, true}, cudnn::X);
  EXPECT_TRUE(x.needed);
  EXPECT_EQ(x.bytes, 2u * 3 * 13 * 4);
  EXPECT_EQ(x.in.offset, (std::array<int32_t, 5>{0, 0, 0, 0, -2}));
  EXPECT_EQ(x.out.offset, (std::array<int32_t, 5>{0, 0, 0, 0, 2}));
  EXPECT_EQ(x.in.destination.sizes, (std::array<int32_t, 5>{2, 3, 1, 1, 13}));
  EXPECT_EQ(x.in.source.strides, (std::array<int32_t, 5>{30, 1, 0, 30, 3}));
  cudnn::Problem p = cudnn::problemOf(g, {true, true, true}, {16, 32, 64});
  EXPECT_EQ(p.tensors[cudnn::X].type, F32);
  EXPECT_EQ(p.padsBegin, (Shape{0, 0}));
}

TEST(ConvolutionRoute, TheLeastIsTriedFirst) {
  ConvolutionGeometry g = uneven();
  auto routes = cudnn::routesFor(g);
  EXPECT_FALSE(routes.front().wide || routes.front().channelsFirst);
  EXPECT_TRUE(routes.back().wide && routes.back().channelsFirst);
  for (const cudnn::Route &route : routes) {
    EXPECT_TRUE(route.padded);
    EXPECT_EQ(route.moved, &route == &routes.back());
  }
  g.padsEnd = g.padsBegin;
  EXPECT_FALSE(cudnn::routesFor(g).front().padded);
}

TEST(ConvolutionRoute, OperandsAreWidenedForAFloat32Result) {
  ConvolutionGeometry g = uneven();
  g.typeX = g.typeY = BF16;
  g.typeW = F32;
  g.direction = Convolution::Direction::WeightGradient;
  g.channelsLast = false;
  for (const cudnn::Route &route : cudnn::routesFor(g)) {
    EXPECT_TRUE(route.wide);
    EXPECT_TRUE(cudnn::problemOf(g, route, {16, 16, 16}).fitsTf32);
  }
  // As factors, float32 numbers do not fit.
  g.direction = Convolution::Direction::Forward;
  EXPECT_FALSE(
      cudnn::problemOf(g, cudnn::routesFor(g).front(), {16, 16, 16}).fitsTf32);
}

TEST(ConvolutionRoute, OnlyManyFloat32ResultsAreComputedAsTheyAre) {
  ConvolutionGeometry g = uneven();
  g.typeX = g.typeY = BF16;
  g.typeW = F32;
  g.direction = Convolution::Direction::WeightGradient;
  EXPECT_TRUE(cudnn::routesFor(g).front().wide);
  g.channels = g.filters = 512;
  EXPECT_FALSE(cudnn::routesFor(g).front().wide);
}

} // namespace
} // namespace halftone::runtime::test
