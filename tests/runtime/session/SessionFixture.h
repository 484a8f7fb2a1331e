// SPDX-License-Identifier: Apache-2.0
// What the tests of sessions share: a folder with the linear plan, and ways to
// open, feed and train it.
#pragma once

#include "runtime/data/Convert.h"
#include "runtime/data/Safetensors.h"
#include "runtime/plan/PlanWriter.h"
#include "runtime/session/Trainer.h"
#include "tests/runtime/LinearPlan.h"
#include "tests/runtime/TemporaryFolder.h"
#include "tests/runtime/data/Arrays.h"

#include <gtest/gtest.h>

namespace halftone::test {

using namespace halftone::runtime;

class SessionTest : public ::testing::Test {
protected:
  /// Writes the plan, and its weights w = (1, 1, 1) and idle = (7, 8) where it
  /// names a file.
  void make(LinearPlanOptions wanted = {}) {
    ASSERT_TRUE(writePlan(makeLinearPlan(wanted), folder / "linear.plan").ok());
    if (!wanted.weightsFile.empty())
      writeWeights(folder / wanted.weightsFile, {1, 1, 1});
  }

  void writeWeights(const std::filesystem::path &path,
                    const std::vector<float> &values) {
    HostArray w = floats({int64_t(values.size()), 1}, values),
              idle = floats({2}, {7, 8});
    ASSERT_TRUE(
        writeSafetensors(path,
                         {makeEntry("w", w.type, w.shape, w.bytes),
                          makeEntry("idle", idle.type, idle.shape, idle.bytes)})
            .ok());
  }

  std::unique_ptr<Session> open(SessionOptions wanted = {}) {
    Result<std::unique_ptr<Session>> session =
        Session::open(folder / "linear.plan", wanted, notice);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? std::move(*session) : nullptr;
  }

  std::string refusal(SessionOptions wanted = {}) {
    Result<std::unique_ptr<Session>> session =
        Session::open(folder / "linear.plan", wanted, notice);
    return session.ok() ? "" : session.status().message();
  }

  DataSet bind(Session &session, const ArrayMap &arrays,
               ProgramKind program = ProgramKind::Train) {
    Result<DataSet> data =
        DataSet::bind(arrays, "data", session.plan(), program, true, notice);
    EXPECT_TRUE(data.ok()) << data.status().message();
    return std::move(*data);
  }

  ArrayMap batch(float skip = 0) {
    return {{"x", floats({2, 3}, {1, 2, 3, 3, 4, 5})},
            {"skip", floats({1}, {skip})}};
  }

  std::vector<float> parameter(Session &session, size_t index) {
    uint32_t buffer = session.plan().parameters[index].buffer;
    return toFloats(
        makeArray(DataType::F32, {}, *session.executor().read(buffer)));
  }

  /// Trains; gives the reports.
  Status train(Session &session, const DataSet &data, int64_t from,
               int64_t to) {
    reports.clear();
    BatchOrder order(data.rows(), data.batch(), session.seed(), true);
    Result<std::unique_ptr<Trainer>> trainer =
        Trainer::create(session, data, order, from);
    HALFTONE_RETURN_IF_ERROR(trainer);
    ReportSink sink = [&](const StepReport &report) -> Status {
      reports.push_back(report);
      return {};
    };
    for (int64_t step = from; step < to; ++step)
      HALFTONE_RETURN_IF_ERROR((*trainer)->step(sink));
    return (*trainer)->finish(sink);
  }

  TemporaryFolder folder;
  std::vector<std::string> notices;
  NoticeSink notice = [this](const std::string &text) {
    notices.push_back(text);
  };
  std::vector<StepReport> reports;
};

} // namespace halftone::test
