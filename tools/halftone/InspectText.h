// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/plan/Plan.h"
#include <string>
#include <vector>

namespace halftone::tools {

std::string roleName(runtime::Parameter::Role role);
std::string arenaName(runtime::ArenaKind kind);

/// "1.5 MiB".
std::string formatBytes(uint64_t bytes);

/// Left-aligned columns, two spaces apart; the first row is the heading.
std::string formatTable(const std::vector<std::vector<std::string>> &rows);

/// Why a node with this rule has its colour, in words.
std::string ruleText(const std::string &rule);

} // namespace halftone::tools
