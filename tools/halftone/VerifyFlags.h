// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tools/halftone/CompileFlags.h"

namespace halftone::tools {

/// Refuses, all at once: flags that would change nothing because another one is
/// missing or says otherwise, and numbers outside of what their flag can mean.
/// Needs the request that `flags` resolve to.
llvm::Error verifyFlags(const CompileFlags &flags,
                        const CompileRequest &request);

/// A sentence for each flag that changes nothing at the precision asked for. It
/// is no error: scripts give the same flags for every precision.
std::vector<std::string> idleFlags(const CompileFlags &flags,
                                   const CompileRequest &request);

/// Lets a number pass that is one, and fits; CLI11 alone would clamp it.
CLI::Validator wholeNumber();

} // namespace halftone::tools
