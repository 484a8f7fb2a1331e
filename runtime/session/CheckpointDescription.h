// SPDX-License-Identifier: Apache-2.0
// checkpoint.json: everything that a checkpoint says beside its arenas.
#pragma once

#include "runtime/session/Checkpoint.h"

#include <utility>

namespace halftone::runtime {

inline constexpr std::string_view kDescriptionFile = "checkpoint.json";

struct CheckpointDescription {
  CheckpointInfo info;
  std::string arenasFile; ///< In the same folder.
  std::string arenasHash; ///< Of the arenas' bytes, in hexadecimal.
  /// Scalar states, for readers of the file; written only.
  std::vector<std::pair<std::string, double>> states;
};

/// Writes the file whole or not at all, with a hash of its own content.
Status writeDescription(const std::filesystem::path &folder, const Plan &plan,
                        const CheckpointDescription &description);

/// Refuses what is damaged, of another format, or of another plan.
Result<CheckpointDescription>
readDescription(const std::filesystem::path &folder, const Plan &plan);

/// The refusal of a checkpoint whose file `path` is not as it was written.
Status damagedCheckpoint(const std::filesystem::path &path,
                         const std::string &what);

} // namespace halftone::runtime
