// RUN: halftone-opt %s --halftone-fuse --split-input-file | FileCheck %s

// Two kernels read x and compute the difference themselves: storing it would cost a wide write, and reading it more than reading x.
// CHECK-LABEL: graph.program @cheap
graph.program @cheap {
  %x = graph.input "x" : tensor<64x64xbf16>
  %m = graph.input "m" : tensor<1x64xf32>
  // CHECK: graph.fused "reduction"
  // CHECK: graph.sub
  // CHECK: graph.fused "reduction"
  // CHECK: graph.sub
  // CHECK-NOT: graph.fused
  %d = graph.sub %x, %m : (tensor<64x64xbf16>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %r = graph.reduce_sum %d {axes = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %s = graph.mul %d, %d : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = graph.reduce_sum %s {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<1x64xf32>
  graph.output "r", %r : tensor<64x1xf32>
  graph.output "c", %c : tensor<1x64xf32>
}

// -----

// An exponential is worth its memory.
// CHECK-LABEL: graph.program @dear
graph.program @dear {
  %x = graph.input "x" : tensor<64x64xf32>
  // CHECK-COUNT-1: graph.exp
  // CHECK-NOT: graph.exp
  %d = graph.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = graph.reduce_sum %d {axes = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %c = graph.reduce_sum %d {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<1x64xf32>
  graph.output "r", %r : tensor<64x1xf32>
  graph.output "c", %c : tensor<1x64xf32>
}

// -----

// So is what reads two large tensors,
// CHECK-LABEL: graph.program @two
graph.program @two {
  %x = graph.input "x" : tensor<64x64xf32>
  %w = graph.input "w" : tensor<64x64xf32>
  // CHECK-COUNT-1: graph.sub
  // CHECK-NOT: graph.sub
  %d = graph.sub %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = graph.reduce_sum %d {axes = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %c = graph.reduce_sum %d {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<1x64xf32>
  graph.output "r", %r : tensor<64x1xf32>
  graph.output "c", %c : tensor<1x64xf32>
}

// -----

// what is narrower than what it is made of,
// CHECK-LABEL: graph.program @narrow
graph.program @narrow {
  %x = graph.input "x" : tensor<64x64xf32>
  %m = graph.input "m" : tensor<1x64xf32>
  // CHECK-COUNT-1: graph.sub
  // CHECK-NOT: graph.sub
  %d = graph.sub %x, %m : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xbf16>
  %r = graph.reduce_sum %d {axes = array<i64: 1>} : (tensor<64x64xbf16>) -> tensor<64x1xf32>
  %c = graph.reduce_sum %d {axes = array<i64: 0>} : (tensor<64x64xbf16>) -> tensor<1x64xf32>
  graph.output "r", %r : tensor<64x1xf32>
  graph.output "c", %c : tensor<1x64xf32>
}

// -----

// and what a library reads.
// CHECK-LABEL: graph.program @library
graph.program @library {
  %x = graph.input "x" : tensor<64x64xf32>
  %m = graph.input "m" : tensor<1x64xf32>
  // CHECK-COUNT-1: graph.sub
  // CHECK-NOT: graph.sub
  %d = graph.sub %x, %m : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %p = graph.matmul %d, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = graph.reduce_sum %d {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<1x64xf32>
  graph.output "p", %p : tensor<64x64xf32>
  graph.output "c", %c : tensor<1x64xf32>
}

// -----

// What lies before a transpose in a reduction's kernel cannot be stored by it: the other kernel reads what lies behind.
// CHECK-LABEL: graph.program @turned
graph.program @turned {
  %x = graph.input "x" : tensor<4x16x8xf32>
  %y = graph.input "y" : tensor<4x16x8xf32>
  %a = graph.add %x, %y : (tensor<4x16x8xf32>, tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %t = graph.transpose %a {perm = array<i64: 0, 2, 1>} : (tensor<4x16x8xf32>) -> tensor<4x8x16xf32>
  // CHECK: graph.yield %{{.*}} : tensor<4x8x16xf32>, tensor<4x8x1xf32>
  %r = graph.reduce_sum %t {axes = array<i64: 2>} : (tensor<4x8x16xf32>) -> tensor<4x8x1xf32>
  %c = graph.reduce_sum %t {axes = array<i64: 0>} : (tensor<4x8x16xf32>) -> tensor<1x8x16xf32>
  graph.output "r", %r : tensor<4x8x1xf32>
  graph.output "c", %c : tensor<1x8x16xf32>
}
