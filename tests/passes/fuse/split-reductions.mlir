// RUN: halftone-opt %s --halftone-split-reductions --split-input-file | FileCheck %s

// Few columns, long ones: as many outer axes stay for the second stage as make results enough. Between the stages lies float32.
// CHECK-LABEL: graph.program @columns
graph.program @columns {
  %x = graph.input "x" : tensor<128x56x56x64xbf16>
  // CHECK: %[[P:.*]] = graph.reduce_sum %{{.*}} {axes = array<i64: 1, 2>{{.*}}} : (tensor<128x56x56x64xbf16>) -> tensor<128x1x1x64xf32>
  // CHECK: graph.reduce_sum %[[P]] {axes = array<i64: 0>{{.*}}} : (tensor<128x1x1x64xf32>) -> tensor<1x1x1x64xbf16>
  %s = graph.reduce_sum %x {axes = array<i64: 0, 1, 2>} : (tensor<128x56x56x64xbf16>) -> tensor<1x1x1x64xbf16>
  graph.output "s", %s : tensor<1x1x1x64xbf16>
}

// -----

// CHECK-LABEL: graph.program @alone
graph.program @alone {
  %x = graph.input "x" : tensor<4x64x64x8192xf32>
  %y = graph.input "y" : tensor<4x16x16x64xf32>
  %z = graph.input "z" : tensor<8x64x128x128xf32>
  // Enough columns; short columns; rows; and an op that is not a sum of parts.
  // CHECK-COUNT-4: graph.reduce_
  // CHECK-NOT: graph.reduce_
  %a = graph.reduce_sum %x {axes = array<i64: 0, 1, 2>} : (tensor<4x64x64x8192xf32>) -> tensor<1x1x1x8192xf32>
  %b = graph.reduce_sum %y {axes = array<i64: 0, 1, 2>} : (tensor<4x16x16x64xf32>) -> tensor<1x1x1x64xf32>
  %c = graph.reduce_mean %z {axes = array<i64: 0, 2, 3>} : (tensor<8x64x128x128xf32>) -> tensor<1x64x1x1xf32>
  %d = graph.reduce_l2 %z {axes = array<i64: 0, 1, 2>} : (tensor<8x64x128x128xf32>) -> tensor<1x1x1x128xf32>
  graph.output "a", %a : tensor<1x1x1x8192xf32>
  graph.output "b", %b : tensor<1x1x1x64xf32>
  graph.output "c", %c : tensor<1x64x1x1xf32>
  graph.output "d", %d : tensor<1x1x1x128xf32>
}
