// SPDX-License-Identifier: Apache-2.0
// The conformance suite of runtime/device/Device.h: one list of tests, run by
// every device. A device that this machine lacks skips its tests.
#pragma once

#include "runtime/device/Device.h"
#include "tests/device/TestPlan.h"

#include <gtest/gtest.h>

namespace halftone::runtime::test {

/// The parameter is the device's id.
class DeviceTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto opened = openDevice(GetParam());
    if (!opened.ok())
      GTEST_SKIP() << opened.status().message();
    device = std::move(*opened);
  }

  /// Starts `plan` and runs all of it; failures are reported.
  std::unique_ptr<TestRun> runPlan(const TestPlan &plan) {
    auto started = TestRun::start(*device, plan);
    if (!started.ok()) {
      ADD_FAILURE() << started.status().message();
      return nullptr;
    }
    if (Status status = (*started)->runAll(); !status.ok()) {
      ADD_FAILURE() << status.message();
      return nullptr;
    }
    return std::move(*started);
  }

  std::unique_ptr<Device> device;
};

inline auto allDevices() { return testing::Values("cpu", "cuda:0"); }

/// "cpu", "cuda_0".
inline std::string deviceLabel(const testing::TestParamInfo<const char *> &p) {
  std::string label = p.param;
  for (char &c : label)
    if (c == ':')
      c = '_';
  return label;
}

} // namespace halftone::runtime::test
