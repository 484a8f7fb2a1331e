// RUN: halftone-opt %s --halftone-verify-precision --split-input-file --verify-diagnostics

graph.program @uncolored {
  %x = graph.input "x" : tensor<4xf32>
  // expected-error @+1 {{has no colour}}
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  graph.output "y", %y : tensor<4xf32>
}

// -----

graph.program @operand {
  %x = graph.input "x" : tensor<4xf32>
  // expected-error @+1 {{operand 0 is 'tensor<4xf32>' but the node wants 'bf16'}}
  %y = graph.relu %x {color = "bf16", rule = "allow"} : (tensor<4xf32>) -> tensor<4xbf16>
  // expected-error @+1 {{operand 0 is 'tensor<4xbf16>' but the node wants 'f32'}}
  graph.output "y", %y : tensor<4xbf16>
}

// -----

graph.program @result {
  %x = graph.input "x" : tensor<4xbf16>
  // expected-error @+1 {{result 0 is 'tensor<4xf32>' but the node is bf16}}
  %y = graph.relu %x {color = "bf16", rule = "allow"} : (tensor<4xbf16>) -> tensor<4xf32>
  graph.output "y", %y : tensor<4xf32>
}
