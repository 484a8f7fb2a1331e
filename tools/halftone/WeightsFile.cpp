// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone/WeightsFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/data/Safetensors.h"

using namespace halftone::runtime;

namespace halftone::tools {

Status writeWeights(const onnx_frontend::WeightStore &weights,
                    const std::filesystem::path &path, proto::Plan &plan) {
  std::vector<SafetensorsEntry> entries;
  for (const proto::Parameter &parameter : plan.parameters()) {
    if (parameter.has_init())
      continue; // drawn
    const onnx_frontend::Weight *weight = weights.find(parameter.name());
    if (!weight || weight->missing)
      return invalidInput(
          "the data of parameter " + parameter.name() +
          " are not there; compile with --init random to draw them");
    entries.push_back(
        makeEntry(weight->name, DataType::F32,
                  Shape(weight->shape.begin(), weight->shape.end()),
                  std::as_bytes(std::span(weight->data))));
  }
  if (entries.empty())
    return {};
  HALFTONE_RETURN_IF_ERROR(writeSafetensors(path, entries));
  auto file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  Sha256Digest digest = sha256(file->bytes());
  plan.set_weights_file(path.filename().string());
  plan.set_weights_sha256(digest.data(), digest.size());
  return {};
}

} // namespace halftone::tools
