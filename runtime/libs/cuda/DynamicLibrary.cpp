// SPDX-License-Identifier: Apache-2.0
// Opening through dlopen.
#include "runtime/libs/cuda/DynamicLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <link.h>
#include <sstream>
#include <vector>

namespace halftone::runtime::cuda {
namespace {

std::vector<std::string> candidates(const std::string &soname) {
  std::vector<std::string> names;
  if (const char *folders = std::getenv("HALFTONE_LIBRARY_PATH")) {
    std::istringstream list(folders);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty())
        names.push_back(folder + "/" + soname);
  }
  names.push_back(soname);
  names.push_back("/usr/local/cuda/lib64/" + soname);
  return names;
}

} // namespace

Result<DynamicLibrary> DynamicLibrary::open(const std::string &soname) {
  std::string reason;
  for (const std::string &name : candidates(soname)) {
    if (void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return DynamicLibrary(handle, soname);
    const char *error = dlerror();
    std::error_code ignored;
    // A file that is there and does not load says more than one that is not.
    bool there = name != soname && std::filesystem::exists(name, ignored);
    if (error && (reason.empty() || name == soname || there))
      reason = error;
    if (there)
      break;
  }
  return unsupported(fmt::format("{} cannot be loaded ({})", soname, reason));
}

Status DynamicLibrary::bind(std::span<const Symbol> symbols) const {
  for (const Symbol &symbol : symbols) {
    *symbol.target = dlsym(handle, symbol.name);
    if (!*symbol.target)
      return unsupported(fmt::format("{} has no function {}; it is too old",
                                     path(), symbol.name));
  }
  return {};
}

std::string DynamicLibrary::path() const {
  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void *>(&map)) == 0 && map &&
      *map->l_name)
    return map->l_name;
  return soname;
}

Status bindVersioned(const VersionedLibrary &library,
                     std::span<const Symbol> symbols,
                     const std::function<size_t()> &getVersion,
                     std::string &version) {
  auto remedied = [&](const Status &status) {
    return status.ok() ? status
                       : unsupported(fmt::format("{}; {}", status.message(),
                                                 library.remedy));
  };
  auto opened = DynamicLibrary::open(library.soname);
  HALFTONE_RETURN_IF_ERROR(remedied(opened.status()));
  HALFTONE_RETURN_IF_ERROR(remedied(opened->bind(symbols.first(1))));
  size_t number = getVersion();
  version =
      fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  if (number < library.minimum)
    return unsupported(fmt::format("{} is version {}; {}", opened->path(),
                                   version, library.remedy));
  return remedied(opened->bind(symbols));
}

} // namespace halftone::runtime::cuda
