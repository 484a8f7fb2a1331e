// SPDX-License-Identifier: Apache-2.0
// Finding where numbers stop being finite.
#pragma once

#include "runtime/executor/Executor.h"

namespace halftone::runtime {

/// The first parameter whose gradient holds a NaN or an infinity; empty where
/// there is none.
Result<std::string> firstBadGradient(Executor &executor);

/// Repeats the gradient part of the program on the batch that lies on the
/// device, step by step, and describes the first buffer that holds a NaN or an
/// infinity: "the first value that is not finite is ...". Negative infinities
/// count only where nothing else is found, since masks are made of them.
Result<std::string> describeFirstNonFinite(Executor &executor,
                                           ProgramKind program);

} // namespace halftone::runtime
