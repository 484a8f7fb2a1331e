// SPDX-License-Identifier: Apache-2.0
// fmt::print and LLVM's streams end the program where a disk is full; the C
// library says it.
#include "tools/halftone/Output.h"
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace halftone::tools {

std::string oneLine(const std::string &message) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  for (char c : message) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      line += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      line += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    else
      line += c;
  }
  return line;
}

void say(const char *severity, const std::string &message) {
  std::string line = std::string(severity) + ": " + oneLine(message) + "\n";
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
