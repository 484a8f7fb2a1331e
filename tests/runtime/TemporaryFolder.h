// SPDX-License-Identifier: Apache-2.0
// A folder that lives as long as the test, and files in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace halftone::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "halftone-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;

  std::filesystem::path operator/(const std::string &name) const {
    return path / name;
  }

  std::filesystem::path write(const std::string &name,
                              const std::string &content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return path / name;
  }

  std::filesystem::path path;
};

inline std::string readText(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace halftone::test
