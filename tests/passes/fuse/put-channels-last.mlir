// RUN: halftone-opt %s --halftone-put-channels-last --split-input-file | FileCheck %s
// RUN: halftone-opt %s --halftone-put-channels-last --halftone-fuse --split-input-file | FileCheck %s --check-prefix=FUSED

// From one convolution to the next nothing is turned, whatever lies between: elementwise ops with operands that are broadcast, and
// reductions, whose axes move.
// CHECK-LABEL: graph.program @chain
graph.program @chain {
  %x = graph.input "x" : tensor<2x3x8x8xf32>
  %w = graph.parameter "w" : tensor<4x3x3x3xf32>
  %v = graph.parameter "v" : tensor<5x4x1x1xf32>
  %scale = graph.parameter "scale" : tensor<4x1x1xf32>
  // CHECK: %[[X:.*]] = graph.transpose %{{.*}} {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x8x8xf32>) -> tensor<2x8x8x3xf32>
  // CHECK: %[[Y:.*]] = graph.conv %[[X]], %{{.*}} {channels_last = true{{.*}}} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  %y = graph.conv %x, %w : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
  // CHECK-NOT: graph.transpose
  // CHECK: %[[MEAN:.*]] = graph.reduce_mean %[[Y]] {axes = array<i64: 0, 1, 2>{{.*}}} : (tensor<2x6x6x4xf32>) -> tensor<1x1x1x4xf32>
  %mean = graph.reduce_mean %y {axes = array<i64: 0, 2, 3>} : (tensor<2x4x6x6xf32>) -> tensor<1x4x1x1xf32>
  // CHECK: %[[C:.*]] = graph.sub %[[Y]], %[[MEAN]] : (tensor<2x6x6x4xf32>, tensor<1x1x1x4xf32>)
  %c = graph.sub %y, %mean : (tensor<2x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  // CHECK: %[[S:.*]] = graph.mul %[[C]], %{{.*}} : (tensor<2x6x6x4xf32>, tensor<1x1x1x4xf32>)
  %s = graph.mul %c, %scale : (tensor<2x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<2x4x6x6xf32>
  // CHECK: %[[R:.*]] = graph.relu %[[S]]
  %r = graph.relu %s : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  // CHECK: %[[Z:.*]] = graph.conv %[[R]], %{{.*}} {channels_last = true{{.*}}} : (tensor<2x6x6x4xf32>, tensor<5x1x1x4xf32>) -> tensor<2x6x6x5xf32>
  %z = graph.conv %r, %v : (tensor<2x4x6x6xf32>, tensor<5x4x1x1xf32>) -> tensor<2x5x6x6xf32>
  // CHECK: %[[OUT:.*]] = graph.transpose %[[Z]] {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: graph.output "z", %[[OUT]]
  graph.output "z", %z : tensor<2x5x6x6xf32>
}

// -----

// A window is computed between two transposes, for all its results, so that the kernel runs along the channels and stores no turned copy.
// CHECK-LABEL: graph.program @window
// FUSED-LABEL: graph.program @window
graph.program @window {
  %x = graph.input "x" : tensor<2x3x8x8xf32>
  %w = graph.parameter "w" : tensor<4x3x3x3xf32>
  %v = graph.parameter "v" : tensor<5x4x1x1xf32>
  %dy = graph.input "dy" : tensor<2x4x3x3xf32>
  %y = graph.conv %x, %w : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
  // FUSED: %[[POOL:.*]]:2 = graph.fused "pointwise"
  // FUSED: graph.max_pool
  // FUSED: (tensor<2x6x6x4xf32>) -> (tensor<2x3x3x4x{{f32|i64}}>, tensor<2x3x3x4x{{f32|i64}}>)
  %p, %i = graph.max_pool %y {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<2x4x6x6xf32>) -> (tensor<2x4x3x3xf32>, tensor<2x4x3x3xi64>)
  // FUSED-NOT: graph.transpose
  // FUSED: graph.conv %[[POOL]]
  %z = graph.conv %p, %v : (tensor<2x4x3x3xf32>, tensor<5x4x1x1xf32>) -> tensor<2x5x3x3xf32>
  %dx = graph.max_pool_grad %i, %dy {shape = array<i64: 2, 4, 6, 6>, kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, storage_order = 0 : si64}
      : (tensor<2x4x3x3xi64>, tensor<2x4x3x3xf32>) -> tensor<2x4x6x6xf32>
  graph.output "z", %z : tensor<2x5x3x3xf32>
  graph.output "dx", %dx : tensor<2x4x6x6xf32>
}

// -----

// No convolution, nothing turned.
// CHECK-LABEL: graph.program @none
graph.program @none {
  %x = graph.input "x" : tensor<2x3x8x8xf32>
  // CHECK-NOT: graph.transpose
  %r = graph.relu %x : (tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
  graph.output "r", %r : tensor<2x3x8x8xf32>
}
