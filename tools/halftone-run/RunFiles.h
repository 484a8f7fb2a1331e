// SPDX-License-Identifier: Apache-2.0
// The files of a run in its folder, and how a new run takes the place of an old
// one: it is written beside it and moved up when it has a first result. A kill
// at any moment leaves one of the two whole; settleRun puts the rest right.
#pragma once

#include "runtime/base/Status.h"

#include <filesystem>

namespace halftone::run {

/// Below a run's folder: where a run that replaces another one grows.
inline constexpr const char *kStaged = ".new";
/// Locked while a run is writing.
inline constexpr const char *kLock = ".lock";

/// Whether the folder is a run's: it has the record, the log or the checkpoint
/// of one. Weights alone may be anybody's.
bool holdsRun(const std::filesystem::path &folder);

/// Whether there is a checkpoint to resume from.
bool holdsCheckpoint(const std::filesystem::path &folder);

/// Whether nothing lies in the folder but what a run writes before it keeps
/// anything: lock, record, logs, pieces of a first checkpoint. Also false where
/// the folder cannot be read. Needs the lock and a settled folder.
bool keptNothing(const std::filesystem::path &folder);

/// Removes a run's files, and the folder where nothing else is in it.
runtime::Status removeRun(const std::filesystem::path &folder);

/// Whether nothing lies in the folder (a lock that nobody holds aside) or there
/// is none. Fails where it cannot be read.
runtime::Result<bool> isFree(const std::filesystem::path &folder);

/// Ends what a killed process had begun: a replacement that was decided is
/// finished, any other is undone; half-written files go. Needs the lock.
runtime::Status settleRun(const std::filesystem::path &folder);

/// Puts the staged run in the place of the one in the folder. Files that are
/// not a run's stay.
runtime::Status replaceRun(const std::filesystem::path &folder);

} // namespace halftone::run
