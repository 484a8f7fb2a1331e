// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tools/halftone/CompileFlags.h"

namespace halftone::tools {

/// Runs `halftone compile`; returns the exit code. Messages go to stderr, the
/// summary to stdout.
int runCompile(const CompileFlags &flags);

} // namespace halftone::tools
