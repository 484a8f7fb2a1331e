// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/Outputs.h"

using namespace mlir;

namespace halftone::onnx_frontend {

std::vector<OutputDescription> describeOutputs(graph::ProgramOp program) {
  std::vector<OutputDescription> outputs;
  for (auto output : program.getBody().front().getOps<graph::OutputOp>()) {
    Value value = output.getValue();
    OutputDescription description{output.getName().str(),
                                  cast<RankedTensorType>(value.getType()),
                                  false, "", value};
    description.isFloat = isa<FloatType>(description.type.getElementType());
    if (Operation *op = value.getDefiningOp()) {
      StringRef name = op->getName().stripDialect();
      if (name == "softmax" || name == "log_softmax" || name == "sigmoid") {
        description.activation = name.str();
        description.logits = op->getOperand(0);
      }
    }
    outputs.push_back(std::move(description));
  }
  return outputs;
}

} // namespace halftone::onnx_frontend
