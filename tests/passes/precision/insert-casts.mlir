// RUN: halftone-opt %s --halftone-assign-precision="precision=bf16" --halftone-insert-casts --split-input-file | FileCheck %s

// One cast of an input and of a parameter, each right behind it, for two readers; the output stays f32.
// CHECK-LABEL: graph.program @once
graph.program @once {
  // CHECK: %[[X:.*]] = graph.input "x"
  // CHECK-NEXT: %[[XLOW:.*]] = graph.cast %[[X]] {{.*}}to = bf16
  %x = graph.input "x" : tensor<4x4xf32>
  // CHECK-NEXT: %[[W:.*]] = graph.parameter "w" : tensor<4x4xf32>
  // CHECK-NEXT: %[[WLOW:.*]] = graph.cast %[[W]] {{.*}}to = bf16
  %w = graph.parameter "w" : tensor<4x4xf32>
  // CHECK-NEXT: %[[A:.*]] = graph.matmul %[[XLOW]], %[[WLOW]] {{.*}} -> tensor<4x4xbf16>
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %[[A]], %[[WLOW]]
  // CHECK-NEXT: %[[WIDE:.*]] = graph.cast %[[B]] {{.*}}to = f32
  %b = graph.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: graph.output "b", %[[WIDE]] : tensor<4x4xf32>
  graph.output "b", %b : tensor<4x4xf32>
}

// -----

// A wide node whose readers are all low rounds as it stores; one with a wide reader keeps f32 and is cast once.
// CHECK-LABEL: graph.program @stored
graph.program @stored {
  %x = graph.input "x" : tensor<4x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[AWIDE:.*]] = graph.cast %{{.*}} : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[E:.*]] = graph.exp %[[AWIDE]] {color = "fp32"{{.*}}} : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  %e = graph.exp %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = graph.matmul %[[E]]
  %b = graph.matmul %e, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[F:.*]] = graph.exp %{{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[FLOW:.*]] = graph.cast %[[F]]
  %f = graph.exp %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: graph.matmul %[[FLOW]]
  %c = graph.matmul %f, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.output "c", %c : tensor<4x4xf32>
  graph.output "f", %f : tensor<4x4xf32>
}

// -----

// Constants: a factor keeps its value (E21), a table is rounded at compile time, a finite one stays finite (E20).
// CHECK-LABEL: graph.program @constants
graph.program @constants {
  // CHECK-DAG: %[[EPS:.*]] = graph.constant dense<9.99999993E-9> : tensor<f32>
  // CHECK-DAG: %[[TABLE:.*]] = graph.constant dense<[1.000000e+00, -1.000980e-01, 3.389530e+38, 0xFF80]> : tensor<4xbf16>
  // CHECK-DAG: %[[LOWEST:.*]] = graph.constant dense<-3.389530e+38> : tensor<bf16>
  %eps = graph.constant dense<1.0e-8> : tensor<f32>
  %table = graph.constant dense<[1.0, -0.1, 3.40282347e+38, 0xFF800000]> : tensor<4xf32>
  %lowest = graph.constant dense<-3.40282347e+38> : tensor<f32>
  %x = graph.input "x" : tensor<4x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: graph.add %{{.*}}, %[[EPS]] {color = "bf16"
  %b = graph.add %a, %eps : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  // CHECK: graph.max %{{.*}}, %[[TABLE]], %[[LOWEST]] {color = "bf16"
  %c = graph.max %b, %table, %lowest : (tensor<4x4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %d = graph.matmul %c, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  graph.output "d", %d : tensor<4x4xf32>
}

// -----

// The model's own casts there and back vanish (E25, E22), pinned ones stay.
// CHECK-LABEL: graph.program @casts
graph.program @casts {
  %x = graph.input "x" : tensor<4x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  // CHECK: %[[A:.*]] = graph.matmul
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = graph.cast %a {to = f16} : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %i = graph.cast %h {to = f32} : (tensor<4x4xf16>) -> tensor<4x4xf32>
  // CHECK-NEXT: graph.matmul %[[A]]
  %b = graph.matmul %i, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: graph.cast %{{.*}}pinned{{.*}}to = f16
  %p = graph.cast %b {to = f16, pinned} : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %q = graph.cast %p {to = f32, pinned} : (tensor<4x4xf16>) -> tensor<4x4xf32>
  // CHECK: graph.cast %{{.*}}pinned{{.*}}to = f32
  graph.output "q", %q : tensor<4x4xf32>
}

// -----

// A weight gradient is an f32 result of a low product.
// CHECK-LABEL: graph.program @gradients
graph.program @gradients {
  %x = graph.input "x" : tensor<4x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  // CHECK: graph.matmul {{.*}}color = "bf16"{{.*}}wide_result{{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %dw = graph.matmul %x, %a {origin = "backward", grad_of = "a", grad_of_class = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: graph.pack
  %g = graph.pack %dw {offsets = array<i64: 0>, origin = "optimizer"} : (tensor<4x4xf32>) -> tensor<16xf32>
  graph.output "g", %g : tensor<16xf32>
}

// -----

// BatchNormalization: arithmetic f32, edges low, parameters and statistics f32.
// CHECK-LABEL: graph.program @batch_norm
graph.program @batch_norm {
  %x = graph.input "x" : tensor<2x3x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  %s = graph.parameter "s" : tensor<3xf32>
  %a = graph.matmul %x, %w : (tensor<2x3x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: graph.batch_normalization {{.*}}color = "fp32"{{.*}}stored = "bf16"
  // CHECK-SAME: (tensor<2x3x4xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xbf16>, tensor<3xf32>, tensor<3xf32>
  %y, %m, %v, %sm, %si = graph.batch_normalization %a, %s, %s, %s, %s {training_mode = 1 : si64}
    : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>)
  %b = graph.matmul %y, %w : (tensor<2x3x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  graph.output "b", %b : tensor<2x3x4xf32>
  graph.output "m", %m : tensor<3xf32>
}
