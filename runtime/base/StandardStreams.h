// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::runtime {

/// For the first line of a program: puts something in the place of each
/// standard stream that it was started without, so that reading or writing it
/// fails (EBADF) instead of reaching the file or device that is opened next.
void holdStandardStreams();

} // namespace halftone::runtime
