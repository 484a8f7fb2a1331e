// SPDX-License-Identifier: Apache-2.0
// Memory-mapped reading and atomic writing over POSIX calls.
#include "runtime/base/File.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halftone::runtime {

namespace {
std::string reason() { return std::strerror(errno); }

Status writeAll(int file, std::span<const std::byte> data) {
  while (!data.empty()) {
    ssize_t written = ::write(file, data.data(), data.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed(reason());
    data = data.subspan(static_cast<size_t>(written));
  }
  return {};
}

/// Makes a rename last: a failure is not one of the file's content, and some
/// file systems cannot do it.
void syncFolder(const std::filesystem::path &folder) {
  int file = ::open(folder.empty() ? "." : folder.c_str(),
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return;
  ::fsync(file);
  ::close(file);
}
} // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path &path) {
  // Without O_NONBLOCK a pipe waits for a writer before it can be refused.
  int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return invalidInput("cannot open '" + path.string() + "': " + reason());
  struct stat info{};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(file);
    return invalidInput("cannot read '" + path.string() +
                        "': not a regular file");
  }
  MappedFile mapped;
  mapped.length = static_cast<size_t>(info.st_size);
  void *address = mapped.length == 0 ? nullptr
                                     : ::mmap(nullptr, mapped.length, PROT_READ,
                                              MAP_PRIVATE, file, 0);
  ::close(file);
  if (address == MAP_FAILED)
    return failed("cannot map '" + path.string() + "': " + reason());
  mapped.mapping = std::shared_ptr<const std::byte>(
      static_cast<const std::byte *>(address),
      [length = mapped.length](const std::byte *base) {
        if (base)
          ::munmap(const_cast<std::byte *>(base), length);
      });
  return mapped;
}

Status
writeFileAtomically(const std::filesystem::path &path,
                    const std::function<Status(const ByteSink &)> &produce) {
  std::string temporary = path.string() + ".tmp-XXXXXX";
  int file = ::mkstemp(temporary.data());
  if (file < 0)
    return failed("cannot write '" + path.string() + "': " + reason());
  Status status = produce(
      [&](std::span<const std::byte> data) { return writeAll(file, data); });
  if (status.ok() && (::fchmod(file, 0644) != 0 || ::fsync(file) != 0))
    status = failed(reason());
  if (::close(file) != 0 && status.ok())
    status = failed(reason());
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = failed(reason());
  if (status.ok())
    syncFolder(path.parent_path());
  else
    ::unlink(temporary.c_str());
  return withContext("cannot write '" + path.string() + "'", status);
}

Status writeFileAtomically(const std::filesystem::path &path,
                           std::span<const std::byte> content) {
  return writeFileAtomically(
      path, [&](const ByteSink &sink) { return sink(content); });
}

Status writeFileAtomically(const std::filesystem::path &path,
                           std::string_view content) {
  return writeFileAtomically(path, std::as_bytes(std::span(content)));
}

} // namespace halftone::runtime
