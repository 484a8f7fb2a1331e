// RUN: halftone-opt %s --halftone-fuse-epilogues --split-input-file | FileCheck %s

// A bias joins the product, on either side of the addition and with axes of one in front, and keeps the product's name.
// CHECK-LABEL: graph.program @bias
graph.program @bias {
  %x = graph.input "x" : tensor<2x3x4xbf16>
  %w = graph.input "w" : tensor<8x4xbf16>
  %a = graph.input "a" : tensor<8xbf16>
  %b = graph.input "b" : tensor<1x1x8xbf16>
  // CHECK: %[[P:.*]] = graph.matmul %{{.*}}, %{{.*}}, %{{.*}} {{.*}}origin = "forward"{{.*}}transpose_b = true{{.*}} : (tensor<2x3x4xbf16>, tensor<8x4xbf16>, tensor<8xbf16>) -> tensor<2x3x8xbf16>
  %0 = graph.matmul %x, %w {transpose_b = true, origin = "forward"} : (tensor<2x3x4xbf16>, tensor<8x4xbf16>) -> tensor<2x3x8xbf16>
  %1 = graph.add %0, %a : (tensor<2x3x8xbf16>, tensor<8xbf16>) -> tensor<2x3x8xbf16>
  // CHECK: graph.relu %[[P]]
  %2 = graph.relu %1 : (tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  // CHECK: %[[V:.*]] = graph.reshape %{{.*}} -> tensor<8xbf16>
  // CHECK: graph.matmul %{{.*}}, %{{.*}}, %[[V]]
  %3 = graph.matmul %2, %w : (tensor<2x3x8xbf16>, tensor<8x4xbf16>) -> tensor<2x3x4xbf16>
  %4 = graph.matmul %3, %w {transpose_b = true} : (tensor<2x3x4xbf16>, tensor<8x4xbf16>) -> tensor<2x3x8xbf16>
  %5 = graph.add %b, %4 : (tensor<1x1x8xbf16>, tensor<2x3x8xbf16>) -> tensor<2x3x8xbf16>
  // CHECK-NOT: graph.add
  graph.output "y", %5 : tensor<2x3x8xbf16>
}

// -----

// CHECK-LABEL: graph.program @alone
graph.program @alone {
  %x = graph.input "x" : tensor<3x4xf32>
  %w = graph.input "w" : tensor<4x3xf32>
  %row = graph.input "row" : tensor<3xf32>
  %column = graph.input "column" : tensor<3x1xf32>
  %one = graph.input "one" : tensor<1xf32>
  %whole = graph.input "whole" : tensor<3x3xf32>
  // A product that is read twice, a column, a number, a whole matrix, and another op.
  // CHECK-COUNT-4: graph.add
  // CHECK: graph.sub
  %0 = graph.matmul %x, %w : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %1 = graph.add %0, %row : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %2 = graph.matmul %0, %x : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = graph.matmul %2, %w : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
  %4 = graph.add %3, %column : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %5 = graph.matmul %4, %1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %6 = graph.add %5, %one : (tensor<3x3xf32>, tensor<1xf32>) -> tensor<3x3xf32>
  %7 = graph.matmul %6, %6 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %8 = graph.add %7, %whole : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %9 = graph.matmul %8, %8 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %10 = graph.sub %9, %row : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  graph.output "y", %10 : tensor<3x3xf32>
}
