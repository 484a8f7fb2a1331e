// SPDX-License-Identifier: Apache-2.0
// flock, which the system gives back with the last descriptor.
#include "runtime/base/FileLock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace halftone::runtime {

Result<std::optional<FileLock>>
FileLock::tryLock(const std::filesystem::path &path) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return failed("cannot write '" + path.string() +
                  "': " + std::strerror(errno));
  FileLock lock(file);
  int result;
  do
    result = ::flock(file, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK)
    return std::optional<FileLock>();
  return std::optional(std::move(lock));
}

FileLock::~FileLock() {
  if (file >= 0)
    ::close(file);
}

} // namespace halftone::runtime
