// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-run/ThreadWaits.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace halftone::run {

namespace {
/// Most of the waits of a small model on a machine of its own: 0.15 ms where a
/// pause takes 140 cycles.
constexpr const char *kSpins = "3000";
} // namespace

void shortenThreadWaits(char **argv) {
  bool hasOpenMp = dlsym(RTLD_DEFAULT, "omp_get_max_threads") != nullptr;
  if (!hasOpenMp || std::getenv("OMP_WAIT_POLICY") ||
      std::getenv("GOMP_SPINCOUNT") ||
      setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/1) != 0)
    return;
  execv("/proc/self/exe", argv);
}

} // namespace halftone::run
