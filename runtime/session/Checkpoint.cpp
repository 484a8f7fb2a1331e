// SPDX-License-Identifier: Apache-2.0
// The arenas of a checkpoint, as raw bytes in a safetensors file.
#include "runtime/session/CheckpointDescription.h"

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"
#include "runtime/data/Safetensors.h"

#include <algorithm>
#include <fmt/format.h>

namespace halftone::runtime {

namespace {
constexpr uint64_t kPieceBytes = 64 << 20;

std::string arenaKey(const Plan &plan, size_t index) {
  return fmt::format("arena.{}.{}", index, plan.arenas[index].name);
}

/// Among how many threads the device splits its sums; 0 where it does not say.
int64_t threadsOf(const Device &device) {
  for (const auto &[name, value] : device.info().properties)
    if (name == "threads")
      return std::strtoll(value.c_str(), nullptr, 10);
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
    if (isCheckpointFile(name) && name != keep && name != kDescriptionFile)
      std::filesystem::remove(entry.path(), error);
  }
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
    return damagedCheckpoint(path, file.status().message());
  SavedArenas arenas;
  Sha256 hash;
  for (size_t i = 0; i < plan.arenas.size(); ++i) {
    if (!isSaved(executor, i))
      continue;
    auto found = file->arrays.find(arenaKey(plan, i));
    if (found == file->arrays.end() ||
        found->second.bytes.size() != plan.arenas[i].bytes)
      return damagedCheckpoint(
          path, fmt::format("arena '{}' is missing or has another size",
                            plan.arenas[i].name));
    hash.update(found->second.bytes);
    arenas.emplace_back(i, found->second);
  }
  if (toHex(hash.finish()) != expected)
    return damagedCheckpoint(path, "its content does not have the hash in "
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
  CheckpointDescription description{info, file, toHex(hash.finish()), {}};
  description.info.threads = threadsOf(session.device());
  for (const char *name : {"rng_step", "loss_scale", "step"}) {
    Result<std::optional<double>> value = session.readState(name);
    HALFTONE_RETURN_IF_ERROR(value);
    if (*value)
      description.states.emplace_back(name, **value);
  }
  HALFTONE_RETURN_IF_ERROR(writeDescription(folder, plan, description));
  removeOthers(folder, file);
  return {};
}

Result<CheckpointInfo> loadCheckpoint(Session &session,
                                      const std::filesystem::path &folder,
                                      const NoticeSink &notice) {
  Executor &executor = session.executor();
  Result<CheckpointDescription> description =
      readDescription(folder, executor.plan());
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
  int64_t threads = threadsOf(session.device());
  int64_t before = description->info.threads;
  if (before != 0 && threads != before)
    notice(fmt::format("the checkpoint was written with threads={}, here it "
                       "is {}: sums are rounded in another order, so that the "
                       "results differ slightly from those of one run; "
                       "OMP_NUM_THREADS={} gives the same",
                       before, threads, before));
  return description->info;
}

} // namespace halftone::runtime
