// SPDX-License-Identifier: Apache-2.0
// Reads plan files. What it returns has been checked: every index, offset and
// extent lies where it should, so that a damaged or invented file is refused
// with a message and nothing later needs to look again.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <memory>
#include <span>

namespace halftone::runtime {

/// The format this build reads and writes.
inline constexpr uint32_t kPlanVersion = 1;

/// Reads the plan at `path`; messages name the path.
Result<std::shared_ptr<const Plan>> readPlan(const std::filesystem::path &path);

/// Parses the content of a plan file: header (magic, version, hash), then the
/// plan.
Result<Plan> parsePlan(std::span<const std::byte> file);

} // namespace halftone::runtime
