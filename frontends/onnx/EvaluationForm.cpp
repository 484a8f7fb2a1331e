// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/EvaluationForm.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "frontends/onnx/Roles.h"

namespace halftone::onnx_frontend {
namespace {

constexpr size_t kMostNames = 10;

bool isDynamoExport(const onnx::GraphProto &graph) {
  return llvm::any_of(graph.node(), [](const auto &node) {
    return llvm::any_of(node.metadata_props(), [](const auto &entry) {
      return llvm::StringRef(entry.key()).starts_with("pkg.torch.");
    });
  });
}

/// "1 Dropout node is", "3 Dropout nodes are".
std::string nodesAre(const std::vector<std::string> &nodes,
                     const std::string &op) {
  return counted(nodes.size(), op + " node") +
         (nodes.size() == 1 ? " is" : " are");
}

} // namespace

void reportEvaluationForm(graph::ProgramOp program,
                          const onnx::GraphProto &graph,
                          const ImportOptions &options, DiagnosticLog &log) {
  std::vector<std::string> dropouts, norms;
  for (mlir::Operation &op : program.getBody().front())
    if (auto dropout = mlir::dyn_cast<graph::DropoutOp>(op)) {
      if (!dropout.isTraining() && dropout.getDropRatio() > 0)
        dropouts.push_back(graph::nodeName(&op));
    } else if (auto norm = mlir::dyn_cast<graph::BatchNormalizationOp>(op)) {
      if (!norm.getTrainingMode())
        norms.push_back(graph::nodeName(&op));
    }
  if (options.dropout && !dropouts.empty())
    log.warning(nodesAre(dropouts, "Dropout") +
                " switched off in the file (training_mode is false or absent): "
                "nothing is dropped in training either: " +
                joinNames(dropouts, kMostNames) + ". " + kExportAdvice +
                "; the TorchScript exporter always leaves attention dropout "
                "off");
  if (options.trainBatchNorm && !norms.empty() && !isDynamoExport(graph))
    log.warning(nodesAre(norms, "BatchNormalization") +
                " in evaluation form, as an export in eval mode leaves them, "
                "without dropout: they are trained with the statistics of the "
                "batch all the same, unless --batch-norm frozen keeps the "
                "stored ones: " +
                joinNames(norms, kMostNames) + ". " + kExportAdvice);
}

} // namespace halftone::onnx_frontend
