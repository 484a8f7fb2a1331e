// SPDX-License-Identifier: Apache-2.0
// What the program says, on streams that may be full or closed.
#pragma once
#include <string>

namespace halftone::tools {

/// "SEVERITY: MESSAGE" on stderr. Where even that cannot be written the exit
/// code must do.
void say(const char *severity, const std::string &message);

/// A name, which may hold anything, as text that stays on its line and that no
/// terminal obeys: line ends and other control characters become \n and \x1b.
std::string oneLine(const std::string &text);

/// Writes `text` to stdout, all of it; returns the exit code: 1, after an error
/// on stderr, where it cannot be written.
int print(const std::string &text);

} // namespace halftone::tools
