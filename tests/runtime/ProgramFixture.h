// SPDX-License-Identifier: Apache-2.0
// halftone-run in a folder of its own: the linear plan, data for it, and what
// one call gave.
#pragma once

#include "runtime/data/Convert.h"
#include "runtime/data/Npy.h"
#include "runtime/data/Safetensors.h"
#include "runtime/plan/PlanWriter.h"
#include "tests/runtime/LinearPlan.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/data/Arrays.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace halftone::test {

using namespace halftone::runtime;
using nlohmann::json;

struct Outcome {
  int code;
  std::string out, error;

  json last() const {
    size_t end = out.find_last_not_of('\n') + 1;
    size_t start = out.find_last_of('\n', end - 1) + 1;
    return json::parse(out.substr(start, end - start), nullptr, false);
  }
};

class ProgramTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(writePlan(makeLinearPlan(), folder / "linear.plan").ok());
    std::vector<float> values(21);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i * i % 7);
    write("data.npz", values, 0);
    write("batch.npz", {1, 2, 3, 3, 4, 5}, 0);
    write("bad.npz", {1, 2, 3, 3, 4, 5}, 1);
  }

  /// Writes rows of three numbers, and whether their steps are skipped.
  void write(const std::string &name, const std::vector<float> &x,
             float skip) const {
    ArrayMap arrays{{"x", floats({int64_t(x.size() / 3), 3}, x)},
                    {"skip", floats({1}, {skip})}};
    ASSERT_TRUE(writeNpz(folder / name, arrays).ok());
  }

  /// Runs the program in the folder; the outcome's texts are what lies in the
  /// files stdout and stderr then.
  Outcome run(const std::string &arguments,
              const std::string &redirections = ">stdout 2>stderr") const {
    std::string command = "cd " + folder.path.string() +
                          " || exit 9; " HALFTONE_BIN "/halftone-run " +
                          arguments + " " + redirections;
    int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            readText(folder / "stdout"), readText(folder / "stderr")};
  }

  bool exists(const std::string &name) const {
    return std::filesystem::exists(folder / name);
  }

  /// The lines of a log.
  std::vector<json> lines(const std::string &name) const {
    std::ifstream file(folder / name);
    std::vector<json> result;
    for (std::string line; std::getline(file, line);)
      result.push_back(json::parse(line, nullptr, false));
    return result;
  }

  TemporaryFolder folder;
};

} // namespace halftone::test
