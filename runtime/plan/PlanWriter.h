// SPDX-License-Identifier: Apache-2.0
// Writes plan files from the protobuf message that the compiler fills.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/plan/plan.pb.h"

#include <filesystem>
#include <string>

namespace halftone::runtime {

/// A hash of what a training run depends on: programs, kernels, layout,
/// parameters, states. Names of files, notes, the record of the nodes and the
/// original model do not count.
uint64_t planContentHash(const proto::Plan &plan);

/// The bytes of a plan file: header and message. Fills content_hash.
std::string serializePlan(proto::Plan plan);

/// Writes the file at once or not at all. A plan that PlanReader would refuse
/// is not written: the message says why.
Status writePlan(proto::Plan plan, const std::filesystem::path &path);

} // namespace halftone::runtime
