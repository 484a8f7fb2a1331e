// SPDX-License-Identifier: Apache-2.0
// Checkpoints: arenas as raw bytes in a safetensors file, numbers in
// checkpoint.json.
#include "runtime/session/Checkpoint.h"

#include "runtime/base/Sha256.h"
#include "runtime/data/Safetensors.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace halftone::runtime {

namespace {
using Json = nlohmann::ordered_json;
constexpr int kFormat = 2;
constexpr std::string_view kDescription = "checkpoint.json";
constexpr uint64_t kPieceBytes = 64 << 20;

std::string arenaKey(const Plan &plan, size_t index) {
  return fmt::format("arena.{}.{}", index, plan.arenas[index].name);
}

std::string hashText(uint64_t hash) { return fmt::format("{:016x}", hash); }

/// The hash that checkpoint.json holds of everything else in it.
std::string hashOf(Json json) {
  json.erase("sha256");
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  return toHex(sha256(std::as_bytes(std::span<const char>(text))));
}

Status damaged(const std::filesystem::path &path, const std::string &what) {
  return invalidInput(
      fmt::format("{}: the checkpoint is damaged: {}; put back a copy of the "
                  "run's folder, or start anew",
                  path.string(), what));
}

/// Among how many threads the device splits its sums; 0 where it does not say.
uint64_t threadsOf(const Device &device) {
  for (const auto &[name, value] : device.info().properties)
    if (name == "threads")
      return std::strtoull(value.c_str(), nullptr, 10);
  return 0;
}

/// Persistent arenas, and those of constants that came from the weights file.
bool isSaved(const Executor &executor, size_t arena) {
  const Plan &plan = executor.plan();
  bool holdsParameters =
      std::ranges::any_of(plan.parameters, [&](const Parameter &parameter) {
        return plan.buffers[parameter.buffer].arena == arena;
      });
  return (isPersistent(plan.arenas[arena].kind) || holdsParameters) &&
         executor.hasArena(static_cast<uint32_t>(arena));
}

/// Downloads an arena piece by piece.
Status produceArena(Executor &executor, size_t arena, const ByteSink &sink) {
  uint64_t total = executor.plan().arenas[arena].bytes;
  auto *base = static_cast<const std::byte *>(
      executor.arenaAddress(static_cast<uint32_t>(arena)));
  std::vector<std::byte> piece(std::min(total, kPieceBytes));
  for (uint64_t done = 0; done < total; done += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), total - done));
    HALFTONE_RETURN_IF_ERROR(executor.device().download(
        Queue::Compute, piece.data(), base + done, piece.size()));
    HALFTONE_RETURN_IF_ERROR(executor.device().synchronize());
    HALFTONE_RETURN_IF_ERROR(sink(piece));
  }
  return {};
}

/// Removes older arenas and what a killed process had begun to write.
void removeOthers(const std::filesystem::path &folder,
                  const std::string &keep) {
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    std::string name = entry.path().filename();
    if (isCheckpointFile(name) && name != keep && name != kDescription)
      std::filesystem::remove(entry.path(), error);
  }
}

struct Description {
  CheckpointInfo info;
  std::string arenasFile, arenasHash;
};

Result<Description> readDescription(const std::filesystem::path &folder,
                                    const Plan &plan) {
  std::filesystem::path path = folder / kDescription;
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  auto *text = reinterpret_cast<const char *>(file->bytes().data());
  Json json = Json::parse(text, text + file->bytes().size(), nullptr, false);
  auto holds = [&](const char *key, Json::value_t type) {
    return json.contains(key) && json[key].type() == type;
  };
  using Type = Json::value_t;
  if (!json.is_object())
    return damaged(path, "it is no JSON object");
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
    return damaged(path, "values are missing");
  if (json["sha256"] != hashOf(json))
    return damaged(path, "its content does not have the hash in it");
  // Counts stay exact in every consumer, JSON included.
  for (const char *count : {"step", "applied", "rows", "batch"})
    if (json[count].get<uint64_t>() > (uint64_t(1) << 53))
      return damaged(path, fmt::format("'{}' is out of range", count));
  std::string hash = json["plan"].get<std::string>();
  if (hash != hashText(plan.contentHash))
    return invalidInput(fmt::format(
        "{}: the checkpoint belongs to another plan (its hash is {}, this "
        "plan's is {}); resume with the plan it was made with, or start anew "
        "from its weights with --weights",
        path.string(), hash, hashText(plan.contentHash)));
  Description result;
  result.info = {json["step"].get<int64_t>(),  json["applied"].get<int64_t>(),
                 json["seed"].get<uint64_t>(), json["rows"].get<int64_t>(),
                 json["batch"].get<int64_t>(), json["shuffle"].get<bool>()};
  if (holds("threads", Type::number_unsigned))
    result.info.threads = json["threads"].get<int64_t>();
  std::filesystem::path arenas = json["arenas"].get<std::string>();
  if (arenas.filename() != arenas)
    return damaged(path, "it names a file outside its folder");
  result.arenasFile = arenas;
  result.arenasHash = json["arenas_sha256"].get<std::string>();
  return result;
}

using SavedArenas = std::vector<std::pair<size_t, HostArray>>;

/// Maps the arenas' file and compares its content with the hash.
Result<SavedArenas> readArenas(const Executor &executor,
                               const std::filesystem::path &path,
                               const std::string &expected) {
  const Plan &plan = executor.plan();
  Result<MappedFile> mapped = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(
      withContext("the checkpoint is damaged", mapped.status()));
  Result<SafetensorsFile> file =
      parseSafetensors(mapped->bytes(), std::make_shared<MappedFile>(*mapped));
  if (!file.ok())
    return damaged(path, file.status().message());
  SavedArenas arenas;
  Sha256 hash;
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    if (!isSaved(executor, i))
      continue;
    auto found = file->arrays.find(arenaKey(plan, i));
    if (found == file->arrays.end() ||
        found->second.bytes.size() != plan.arenas[i].bytes)
      return damaged(path, fmt::format("arena '{}' is missing or has another "
                                       "size",
                                       plan.arenas[i].name));
    hash.update(found->second.bytes);
    arenas.emplace_back(i, found->second);
  }
  if (toHex(hash.finish()) != expected)
    return damaged(path, "its content does not have the hash in "
                         "checkpoint.json");
  return arenas;
}
} // namespace

Status saveCheckpoint(Session &session, const std::filesystem::path &folder,
                      const CheckpointInfo &info) {
  Executor &executor = session.executor();
  const Plan &plan = executor.plan();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return failed(fmt::format("cannot make the folder '{}': {}",
                              folder.string(), error.message()));
  std::vector<SafetensorsEntry> entries;
  Sha256 hash;
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    if (!isSaved(executor, i))
      continue;
    auto produce = [&executor, &hash, i](const ByteSink &sink) {
      return produceArena(executor, i, [&](std::span<const std::byte> piece) {
        hash.update(piece);
        return sink(piece);
      });
    };
    entries.push_back({arenaKey(plan, i),
                       DataType::U8,
                       {static_cast<int64_t>(plan.arenas[i].bytes)},
                       produce});
  }
  std::string file = fmt::format("arenas-{:09}.safetensors", info.step);
  HALFTONE_RETURN_IF_ERROR(writeSafetensors(folder / file, entries));
  int64_t perEpoch = std::max<int64_t>(info.rows / info.batch, 1);
  Json json = {{"format", kFormat},
               {"plan", hashText(plan.contentHash)},
               {"model", plan.modelName},
               {"step", uint64_t(info.step)},
               {"applied", uint64_t(info.applied)},
               {"seed", info.seed},
               {"rows", uint64_t(info.rows)},
               {"batch", uint64_t(info.batch)},
               {"shuffle", info.shuffle},
               {"epoch", uint64_t(info.step / perEpoch)},
               {"batch_of_epoch", uint64_t(info.step % perEpoch)},
               {"threads", threadsOf(session.device())},
               {"arenas", file},
               {"arenas_sha256", toHex(hash.finish())}};
  for (const char *name : {"rng_step", "loss_scale", "step"}) {
    Result<std::optional<double>> value = session.readState(name);
    HALFTONE_RETURN_IF_ERROR(value);
    if (*value)
      json["states"][name] = **value;
  }
  json["sha256"] = hashOf(json);
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  HALFTONE_RETURN_IF_ERROR(
      writeFileAtomically(folder / kDescription, text + "\n"));
  removeOthers(folder, file);
  return {};
}

Result<CheckpointInfo> readCheckpointInfo(const std::filesystem::path &folder,
                                          const Plan &plan) {
  Result<Description> description = readDescription(folder, plan);
  HALFTONE_RETURN_IF_ERROR(description);
  return description->info;
}

Result<CheckpointInfo> loadCheckpoint(Session &session,
                                      const std::filesystem::path &folder,
                                      const NoticeSink &notice) {
  Executor &executor = session.executor();
  Result<Description> description = readDescription(folder, executor.plan());
  HALFTONE_RETURN_IF_ERROR(description);
  Result<SavedArenas> saved = readArenas(
      executor, folder / description->arenasFile, description->arenasHash);
  HALFTONE_RETURN_IF_ERROR(saved);
  for (const auto &[arena, content] : *saved)
    HALFTONE_RETURN_IF_ERROR(executor.device().upload(
        Queue::Compute, executor.arenaAddress(static_cast<uint32_t>(arena)),
        content.bytes.data(), content.bytes.size()));
  HALFTONE_RETURN_IF_ERROR(executor.device().synchronize());
  HALFTONE_RETURN_IF_ERROR(session.setSeed(description->info.seed));
  uint64_t threads = threadsOf(session.device());
  uint64_t before = static_cast<uint64_t>(description->info.threads);
  if (before != 0 && threads != before)
    notice(fmt::format("the checkpoint was written with threads={}, here it "
                       "is {}: sums are rounded in another order, so that the "
                       "results differ slightly from those of one run; "
                       "OMP_NUM_THREADS={} gives the same",
                       before, threads, before));
  return description->info;
}

bool isCheckpointFile(std::string_view name) {
  constexpr std::string_view kArenas = "arenas-", kEnd = ".safetensors",
                             kDigits = "0123456789";
  std::string_view rest = name.substr(0, name.find(".tmp-"));
  if (rest == kDescription)
    return true;
  if (!rest.starts_with(kArenas) || !rest.ends_with(kEnd) ||
      rest.size() <= kArenas.size() + kEnd.size())
    return false;
  rest.remove_prefix(kArenas.size());
  rest.remove_suffix(kEnd.size());
  return rest.find_first_not_of(kDigits) == rest.npos;
}

} // namespace halftone::runtime
