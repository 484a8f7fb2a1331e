// SPDX-License-Identifier: Apache-2.0
// The table of devices: listing and opening.
#include "runtime/device/Device.h"

#include <gtest/gtest.h>

namespace halftone::runtime {
namespace {

TEST(Devices, EveryListedOneOpensAsItself) {
  for (const DeviceInfo &info : listDevices()) {
    auto device = openDevice(info.id);
    ASSERT_TRUE(device.ok()) << device.status().message();
    EXPECT_EQ((*device)->info().id, info.id);
  }
}

TEST(Devices, MissingFamiliesSayWhy) {
  for (const MissingDevices &missing : missingDevices()) {
    EXPECT_FALSE(missing.reason.empty());
    auto device = openDevice(missing.name);
    ASSERT_FALSE(device.ok());
    EXPECT_NE(device.status().message().find(missing.reason),
              std::string::npos);
  }
}

TEST(Devices, UnknownNamesListWhatThereIs) {
  for (std::string id : {"", "gpu", "cpu:0", "cpu:", "cuda:-1", "cuda:x",
                         "cuda:99999999999", "cuda:999"}) {
    auto device = openDevice(id);
    ASSERT_FALSE(device.ok()) << id;
    EXPECT_EQ(device.status().code(), id == "cuda:999"
                                          ? StatusCode::Unsupported
                                          : StatusCode::InvalidInput)
        << id;
    for (const DeviceInfo &info : listDevices())
      EXPECT_NE(device.status().message().find("'" + info.id + "'"),
                std::string::npos)
          << device.status().message();
  }
}

} // namespace
} // namespace halftone::runtime
