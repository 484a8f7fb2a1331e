// SPDX-License-Identifier: Apache-2.0
// Things worth telling the user that are no failure: libraries hand them to
// whoever called.
#pragma once

#include <functional>
#include <string>

namespace halftone::runtime {

/// Takes one sentence without a newline. Never empty where a parameter asks for
/// it.
using NoticeSink = std::function<void(const std::string &)>;

} // namespace halftone::runtime
