// SPDX-License-Identifier: Apache-2.0
// How long OpenMP's threads spin where they wait for each other.
#pragma once

namespace halftone::run {

/// Starts the program anew, as the same process, with a shorter spin, unless
/// the environment says how threads are to wait. GNU's OpenMP spins for many
/// milliseconds, in which the thread that is waited for gets no core where
/// other programs keep them busy; and it takes the number from the environment
/// alone, before main. Returns where nothing is to be changed or that fails.
void shortenThreadWaits(char **argv);

} // namespace halftone::run
