// SPDX-License-Identifier: Apache-2.0
// What halftone-run says of the machine's devices.
#include "runtime/device/Device.h"
#include "tools/halftone-run/Commands.h"
#include "tools/halftone-run/Output.h"

#include <fmt/format.h>

namespace halftone::run {

using namespace runtime;

namespace {
Json describe(const DeviceInfo &info) {
  Json json = {{"id", info.id},
               {"target", info.target},
               {"name", info.name},
               {"architecture", info.architecture},
               {"total_bytes", info.totalBytes}};
  for (const auto &[key, value] : info.properties)
    json[key] = value;
  return json;
}

std::string deviceList() {
  std::string text;
  for (const DeviceInfo &info : listDevices()) {
    text += fmt::format("{}: {}, {}, {:.1f} GiB\n", info.id, info.name,
                        info.architecture,
                        static_cast<double>(info.totalBytes) / 0x1p30);
    for (const auto &[key, value] : info.properties)
      text += fmt::format("    {}: {}\n", key, value);
  }
  for (const MissingDevices &missing : missingDevices())
    text += fmt::format("{}: none ({})\n", missing.name, missing.reason);
  return text;
}
} // namespace

Status devices(bool asJson) {
  if (!asJson) {
    put(deviceList());
    return {};
  }
  Json json = {{"devices", Json::array()}, {"missing", Json::object()}};
  for (const DeviceInfo &info : listDevices())
    json["devices"].push_back(describe(info));
  for (const MissingDevices &missing : missingDevices())
    json["missing"][missing.name] = missing.reason;
  printJson(json);
  return {};
}

void printVersion() {
  put(fmt::format("halftone-run {}\n", HALFTONE_VERSION) + deviceList());
}

} // namespace halftone::run
