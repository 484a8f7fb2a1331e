// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/StandardStreams.h"

#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace halftone::runtime {

void holdStandardStreams() {
  // In ascending order: open() takes the lowest number that is free. Each is
  // opened for what nobody does with it.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace halftone::runtime
