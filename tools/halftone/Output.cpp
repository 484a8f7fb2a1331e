// SPDX-License-Identifier: Apache-2.0
// fmt::print and LLVM's streams end the program where a disk is full; the C
// library says it.
#include "tools/halftone/Output.h"
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace halftone::tools {

void say(const char *severity, const std::string &message) {
  std::string line = std::string(severity) + ": " + message + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int print(const std::string &text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0)
    return 0;
  say("error",
      std::string("cannot write to standard output: ") + std::strerror(errno));
  return 1;
}

} // namespace halftone::tools
