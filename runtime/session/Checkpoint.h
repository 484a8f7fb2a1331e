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
};

/// Writes into `folder` (made where missing): the arenas' file first, then
/// checkpoint.json, which names it; a crash at any point leaves the last
/// complete checkpoint. Both are hashed. Older arena files are removed last.
Status saveCheckpoint(Session &session, const std::filesystem::path &folder,
                      const CheckpointInfo &info);

/// Restores the arenas. Refuses a checkpoint of another plan, with both hashes,
/// and fails where the content does not have the hash it was written with;
/// nothing is changed then.
Result<CheckpointInfo> loadCheckpoint(Session &session,
                                      const std::filesystem::path &folder);

/// Reads the JSON alone.
Result<CheckpointInfo> readCheckpointInfo(const std::filesystem::path &folder,
                                          const Plan &plan);

} // namespace halftone::runtime
