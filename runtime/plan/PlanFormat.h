// SPDX-License-Identifier: Apache-2.0
// The 48 bytes before the message in a plan file; shared by reader and writer.
#pragma once

#include "runtime/base/Sha256.h"
#include "runtime/plan/PlanReader.h"

#include <bit>

namespace halftone::runtime {

struct PlanHeader {
  std::array<char, 8> magic{'H', 'T', 'P', 'L', 'A', 'N', '\0', '\0'};
  uint32_t version =
      kPlanVersion; ///< Little-endian, as all machines we run on.
  uint32_t zero = 0;
  Sha256Digest digest{}; ///< Of everything after the header.
};

static_assert(sizeof(PlanHeader) == 48 &&
              std::endian::native == std::endian::little);

} // namespace halftone::runtime
