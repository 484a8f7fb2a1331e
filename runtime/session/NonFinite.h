// SPDX-License-Identifier: Apache-2.0
// Finding where numbers stop being finite.
#pragma once

#include "runtime/data/DataSet.h"
#include "runtime/executor/Executor.h"

namespace halftone::runtime {

/// The first parameter whose gradient holds a NaN or an infinity; empty where
/// there is none.
Result<std::string> firstBadGradient(Executor &executor);

/// Where numbers stopped being finite.
struct FirstNonFinite {
  enum class Where : uint8_t { Nowhere, Data, Weights, Step };
  Where where = Where::Nowhere;
  std::string text; ///< For the user: what it is, and what to do about it.
};

/// Looks at the batch with these rows of `data`, which lies on the device, and
/// at the weights; then repeats the gradient part of the program, step by step,
/// and finds the first buffer that holds a NaN or an infinity. Negative
/// infinities count only where nothing else is found, since masks are made of
/// them. A batch in which no label counts has no loss, which is said instead.
Result<FirstNonFinite> findFirstNonFinite(Executor &executor,
                                          ProgramKind program,
                                          const DataSet &data,
                                          std::span<const int64_t> rows);

} // namespace halftone::runtime
