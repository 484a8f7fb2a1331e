// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/CheckpointDescription.h"

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace halftone::runtime {

namespace {
using Json = nlohmann::ordered_json;
constexpr int kFormat = 2;

std::string hashText(uint64_t hash) { return fmt::format("{:016x}", hash); }

/// The hash that checkpoint.json holds of everything else in it.
std::string hashOf(Json json) {
  json.erase("sha256");
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  return toHex(sha256(std::as_bytes(std::span<const char>(text))));
}
} // namespace

Status writeDescription(const std::filesystem::path &folder, const Plan &plan,
                        const CheckpointDescription &description) {
  const CheckpointInfo &info = description.info;
  int64_t perEpoch = std::max<int64_t>(info.rows / info.batch, 1);
  Json json = {{"format", kFormat},
               {"plan", hashText(plan.contentHash)},
               {"model", plan.modelName},
               {"step", uint64_t(info.step)},
               {"applied", uint64_t(info.applied)},
               {"seed", info.seed},
               {"rows", uint64_t(info.rows)},
               {"batch", uint64_t(info.batch)},
               {"data", info.data},
               {"shuffle", info.shuffle},
               {"epoch", uint64_t(info.step / perEpoch)},
               {"batch_of_epoch", uint64_t(info.step % perEpoch)},
               {"threads", uint64_t(info.threads)},
               {"arenas", description.arenasFile},
               {"arenas_sha256", description.arenasHash}};
  for (const auto &[name, value] : description.states)
    json["states"][name] = value;
  json["sha256"] = hashOf(json);
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  return writeFileAtomically(folder / kDescriptionFile, text + "\n");
}

Status damagedCheckpoint(const std::filesystem::path &path,
                         const std::string &what) {
  return invalidInput(
      fmt::format("{}: the checkpoint is damaged: {}; put back a copy of the "
                  "run's folder, or start anew",
                  path.string(), what));
}

Result<CheckpointDescription>
readDescription(const std::filesystem::path &folder, const Plan &plan) {
  std::filesystem::path path = folder / kDescriptionFile;
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  auto *text = reinterpret_cast<const char *>(file->bytes().data());
  Json json = Json::parse(text, text + file->bytes().size(), nullptr, false);
  auto holds = [&](const char *key, Json::value_t type) {
    return json.contains(key) && json[key].type() == type;
  };
  using Type = Json::value_t;
  if (!json.is_object())
    return damagedCheckpoint(path, "it is no JSON object");
  if (holds("format", Type::number_unsigned) && json["format"] != kFormat)
    return invalidInput(fmt::format(
        "{}: the checkpoint has format {}, this program reads {}; start anew "
        "from the run's weights with --weights",
        path.string(), json["format"].dump(), kFormat));
  if (!holds("format", Type::number_unsigned) || !holds("plan", Type::string) ||
      !holds("arenas", Type::string) || !holds("arenas_sha256", Type::string) ||
      !holds("step", Type::number_unsigned) ||
      !holds("applied", Type::number_unsigned) ||
      !holds("seed", Type::number_unsigned) ||
      !holds("rows", Type::number_unsigned) ||
      !holds("batch", Type::number_unsigned) ||
      !holds("shuffle", Type::boolean) || !holds("sha256", Type::string))
    return damagedCheckpoint(path, "values are missing");
  if (json["sha256"] != hashOf(json))
    return damagedCheckpoint(path, "its content does not have the hash in it");
  // Counts stay exact in every consumer, JSON included.
  for (const char *count : {"step", "applied", "rows", "batch"})
    if (json[count].get<uint64_t>() > (uint64_t(1) << 53))
      return damagedCheckpoint(path,
                               fmt::format("'{}' is out of range", count));
  std::string hash = json["plan"].get<std::string>();
  if (hash != hashText(plan.contentHash))
    return invalidInput(fmt::format(
        "{}: the checkpoint belongs to another plan (its hash is {}, this "
        "plan's is {}); resume with the plan it was made with, or start anew "
        "from its weights with --weights",
        path.string(), hash, hashText(plan.contentHash)));
  CheckpointDescription result;
  result.info = {json["step"].get<int64_t>(),  json["applied"].get<int64_t>(),
                 json["seed"].get<uint64_t>(), json["rows"].get<int64_t>(),
                 json["batch"].get<int64_t>(), json["shuffle"].get<bool>()};
  if (holds("threads", Type::number_unsigned))
    result.info.threads = json["threads"].get<int64_t>();
  if (holds("data", Type::string))
    result.info.data = json["data"].get<std::string>();
  std::filesystem::path arenas = json["arenas"].get<std::string>();
  if (arenas.filename() != arenas)
    return damagedCheckpoint(path, "it names a file outside its folder");
  result.arenasFile = arenas;
  result.arenasHash = json["arenas_sha256"].get<std::string>();
  return result;
}

Result<CheckpointInfo> readCheckpointInfo(const std::filesystem::path &folder,
                                          const Plan &plan) {
  Result<CheckpointDescription> description = readDescription(folder, plan);
  HALFTONE_RETURN_IF_ERROR(description);
  return description->info;
}

bool isCheckpointFile(std::string_view name) {
  constexpr std::string_view kArenas = "arenas-", kEnd = ".safetensors",
                             kDigits = "0123456789";
  std::string_view rest = name.substr(0, name.find(".tmp-"));
  if (rest == kDescriptionFile)
    return true;
  if (!rest.starts_with(kArenas) || !rest.ends_with(kEnd) ||
      rest.size() <= kArenas.size() + kEnd.size())
    return false;
  rest.remove_prefix(kArenas.size());
  rest.remove_suffix(kEnd.size());
  return rest.find_first_not_of(kDigits) == rest.npos;
}

} // namespace halftone::runtime
