// SPDX-License-Identifier: Apache-2.0
// Serialization of plans: deterministic, so that equal plans are equal files.
#include "runtime/plan/PlanWriter.h"

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include "runtime/plan/PlanFormat.h"
#include "runtime/plan/PlanReader.h"

#include <cstring>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace halftone::runtime {

namespace {
std::string deterministicBytes(const proto::Plan &plan) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    plan.SerializeToCodedStream(&coded);
  }
  return bytes;
}
} // namespace

uint64_t planContentHash(const proto::Plan &plan) {
  proto::Plan part = plan;
  part.clear_producer();
  part.clear_model_name();
  part.clear_weights_file();
  part.clear_weights_sha256();
  part.clear_default_seed();
  part.clear_recipe_json();
  part.clear_nodes();
  part.clear_casts();
  part.clear_model();
  part.clear_notes();
  part.clear_content_hash();
  Sha256Digest digest =
      sha256(std::as_bytes(std::span<const char>(deterministicBytes(part))));
  uint64_t hash;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

std::string serializePlan(proto::Plan plan) {
  plan.set_content_hash(planContentHash(plan));
  std::string body = deterministicBytes(plan);
  PlanHeader header;
  header.digest = sha256(std::as_bytes(std::span<const char>(body)));
  std::string file(sizeof header, '\0');
  std::memcpy(file.data(), &header, sizeof header);
  return file + body;
}

Status writePlan(proto::Plan plan, const std::filesystem::path &path) {
  std::string file = serializePlan(std::move(plan));
  auto bytes = std::as_bytes(std::span<const char>(file));
  Result<Plan> checked = parsePlan(bytes);
  if (!checked.ok())
    return failed("the compiler made a plan that cannot be used: " +
                  checked.status().message());
  return writeFileAtomically(path, bytes);
}

} // namespace halftone::runtime
