// SPDX-License-Identifier: Apache-2.0
// Which call of a stand-in for one of NVIDIA's math libraries fails:
// HALFTONE_FAKE_LIBRARY=FUNCTION:COUNT:STATUS, as HALFTONE_FAKE_CUDA's fail=;
// with a + behind STATUS, all calls from that one on.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/// The status to answer; 0, success, in all other calls.
inline int faultOf(const char *function) {
  static std::atomic<int> calls = 0;
  const char *text = std::getenv("HALFTONE_FAKE_LIBRARY");
  char name[64] = "";
  int count = 0, status = 0;
  char onward = 0;
  if (!text ||
      std::sscanf(text, "%63[^:]:%d:%d%c", name, &count, &status, &onward) <
          3 ||
      std::strcmp(name, function) != 0)
    return 0;
  int call = ++calls;
  return call == count || (onward == '+' && call > count) ? status : 0;
}
