// SPDX-License-Identifier: Apache-2.0
// Libraries opened at first use, so that one binary starts on machines that
// lack them.
#pragma once

#include "runtime/base/Status.h"

#include <functional>
#include <span>
#include <string>

namespace halftone::runtime::cuda {

/// A function of a library by its exported name, and the pointer to set.
struct Symbol {
  const char *name;
  void **target;
};

template <typename Function>
Symbol symbol(const char *name, Function *&target) {
  return {name, reinterpret_cast<void **>(&target)};
}

/// An open library. Never closed: GPU libraries keep threads and exit handlers.
class DynamicLibrary {
public:
  /// Opens `soname` from the folders of HALFTONE_LIBRARY_PATH (separated by
  /// colons), then where the loader looks, then from a CUDA toolkit. Fails with
  /// the loader's reason (StatusCode::Unsupported).
  static Result<DynamicLibrary> open(const std::string &soname);

  /// Sets all targets; fails naming the first function that is not there.
  Status bind(std::span<const Symbol> symbols) const;

  /// The file it was loaded from.
  std::string path() const;

private:
  DynamicLibrary(void *handle, std::string soname)
      : handle(handle), soname(std::move(soname)) {}

  void *handle;
  std::string soname;
};

/// A library whose releases count 10000 * major + 100 * minor + patch.
struct VersionedLibrary {
  const char *soname;
  size_t minimum;
  const char *remedy; ///< Ends the message where it is missing or too old.
};

/// Opens `library`, asks `getVersion`, which calls the first of the targets,
/// and sets all of them and `version`, in words ("13.1.0"). Fails with
/// StatusCode::Unsupported.
Status bindVersioned(const VersionedLibrary &library,
                     std::span<const Symbol> symbols,
                     const std::function<size_t()> &getVersion,
                     std::string &version);

/// The process's one table of functions of this type, filled by the first call.
template <typename Library>
Result<const Library *> loadOnce(Status (*load)(Library &)) {
  static Library library;
  static const Status status = load(library);
  HALFTONE_RETURN_IF_ERROR(status);
  return &library;
}

} // namespace halftone::runtime::cuda
