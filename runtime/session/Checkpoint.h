// SPDX-License-Identifier: Apache-2.0
// Everything a training run needs to go on as if it had never stopped: all
// persistent arenas and a small JSON.
#pragma once

#include "runtime/session/Session.h"

namespace halftone::runtime {

/// What the JSON says beside the plan's hash.
struct CheckpointInfo {
  int64_t step = 0; ///< Steps done, skipped ones included; the position in the
                    ///< data follows from it.
  int64_t applied = 0;
  uint64_t seed = 0;
  int64_t rows = 0, batch = 0; ///< Of the data, so that a change is noticed.
  bool shuffle = true;
  int64_t threads = 0;   ///< Of the device that wrote it; 0 where it has none.
                         ///< Read only: writing takes the session's.
  std::string data = {}; ///< DataSet::fingerprint; empty: not known.
};

/// Writes into `folder` (made where missing): the arenas' file first, then
/// checkpoint.json, which names it; a crash at any point leaves the last
/// complete checkpoint. Both are hashed. Older arena files are removed last.
Status saveCheckpoint(Session &session, const std::filesystem::path &folder,
                      const CheckpointInfo &info);

/// Restores the arenas. Refuses a checkpoint of another plan, with both hashes,
/// and one whose content does not have the hash it was written with; nothing is
/// changed then. Tells `notice` where the results will differ from those of the
/// run that wrote it.
Result<CheckpointInfo> loadCheckpoint(
    Session &session, const std::filesystem::path &folder,
    const NoticeSink &notice = [](const std::string &) {});

/// Whether a file of this name in a checkpoint's folder is one of the
/// checkpoint's, half-written ones included: others are never removed.
bool isCheckpointFile(std::string_view name);

/// Reads the JSON alone.
Result<CheckpointInfo> readCheckpointInfo(const std::filesystem::path &folder,
                                          const Plan &plan);

} // namespace halftone::runtime
