// SPDX-License-Identifier: Apache-2.0
// The one table of device families: how each lists its devices and opens one.
#include "runtime/device/Device.h"

#if HALFTONE_HAS_CPU
#include "runtime/device/cpu/CpuDevice.h"
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::runtime {
namespace {

struct Family {
  std::string name; ///< The part of an id before the colon.
  std::vector<DeviceInfo> devices;
  Result<std::unique_ptr<Device>> (*open)(int index);
  std::string missing; ///< Why there are no devices; empty where there are.
};

Family cpuFamily() {
#if HALFTONE_HAS_CPU
  return {"cpu", {cpu::describeCpu()}, [](int) { return cpu::openCpu(); }, ""};
#else
  return {
      "cpu", {}, nullptr, "this build has no CPU device (HALFTONE_CPU=OFF)"};
#endif
}

std::vector<Family> families() { return {cpuFamily()}; }

/// The number after the colon; 0 without one, -1 where it is none.
int indexIn(const std::string &id, size_t colon) {
  if (colon == std::string::npos)
    return 0;
  std::string digits = id.substr(colon + 1);
  bool valid = !digits.empty() && digits.size() < 6 &&
               digits.find_first_not_of("0123456789") == std::string::npos;
  return valid ? std::stoi(digits) : -1;
}

Status noSuchDevice(const std::string &id, const std::string &why) {
  std::vector<std::string> ids;
  for (const DeviceInfo &info : listDevices())
    ids.push_back("'" + info.id + "'");
  std::string found =
      ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", "));
  return unsupported(fmt::format("no device '{}'{}{}; devices found: {}", id,
                                 why.empty() ? "" : ": ", why, found));
}

} // namespace

std::vector<DeviceInfo> listDevices() {
  std::vector<DeviceInfo> all;
  for (Family &family : families())
    all.insert(all.end(), family.devices.begin(), family.devices.end());
  return all;
}

std::vector<MissingDevices> missingDevices() {
  std::vector<MissingDevices> all;
  for (Family &family : families())
    if (family.devices.empty())
      all.push_back({family.name, family.missing});
  return all;
}

Result<std::unique_ptr<Device>> openDevice(const std::string &id) {
  size_t colon = id.find(':');
  std::string name = id.substr(0, colon);
  int index = indexIn(id, colon);
  for (const Family &family : families()) {
    if (family.name != name)
      continue;
    if (family.devices.empty())
      return noSuchDevice(id, family.missing);
    bool numbered = family.devices.front().id.find(':') != std::string::npos;
    bool exists = index >= 0 &&
                  index < static_cast<int>(family.devices.size()) &&
                  (numbered || colon == std::string::npos);
    return exists ? family.open(index) : noSuchDevice(id, "");
  }
  return noSuchDevice(id, "");
}

} // namespace halftone::runtime
