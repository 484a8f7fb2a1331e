// RUN: halftone-opt %s --halftone-assign-precision="precision=fp16 deny=Relu color=last=fp32" | FileCheck %s
// RUN: not halftone-opt %s --halftone-assign-precision="precision=fp16 deny=Nope" 2>&1 | FileCheck %s --check-prefix=NOPE

// NOPE: --deny: there is no operator 'Nope'

// Colour, rule, source and path are written on every op.
graph.program @train {
  %x = graph.input "x" : tensor<4x4xf32>
  %w = graph.parameter "w" : tensor<4x4xf32>
  // CHECK: graph.matmul {{.*}}{color = "fp16", origin = "forward", path = [], rule = "allow", source = "default"}
  %a = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("first")
  // CHECK: graph.relu {{.*}}{color = "fp32", origin = "forward", path = [], rule = "deny", source = "user"}
  %r = graph.relu %a : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("relu")
  // CHECK: graph.tanh {{.*}}{color = "fp32", origin = "forward", path = ["relu"], rule = "deny-upstream", source = "derived"}
  %t = graph.tanh %r : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("tanh")
  // CHECK: graph.matmul {{.*}}{color = "fp32", origin = "forward", path = [], rule = "color", source = "user"}
  %b = graph.matmul %t, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("last")
  graph.output "b", %b : tensor<4x4xf32>
}
