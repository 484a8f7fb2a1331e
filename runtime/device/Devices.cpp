// SPDX-License-Identifier: Apache-2.0
// The one table of device families: how each lists its devices and opens one.
#include "runtime/device/Device.h"

#if HALFTONE_HAS_CPU
#include "runtime/device/cpu/CpuDevice.h"
#endif
#if HALFTONE_HAS_CUDA
#include "runtime/device/cuda/CudaDevice.h"
#endif

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace halftone::runtime {
namespace {

/// A family of devices: how to list and open them. Where there is none, list
/// fails with the reason; `details` asks for what takes opening libraries.
struct Family {
  std::string name; ///< The part of an id before the colon.
  bool numbered;    ///< Whether ids have an index behind a colon.
  Result<std::vector<DeviceInfo>> (*list)(bool details);
  Result<std::unique_ptr<Device>> (*open)(int index);
};

Family cpuFamily() {
#if HALFTONE_HAS_CPU
  return {"cpu", false,
          [](bool) -> Result<std::vector<DeviceInfo>> {
            return std::vector{cpu::describeCpu()};
          },
          [](int) { return cpu::openCpu(); }};
#else
  return {"cpu", false,
          [](bool) -> Result<std::vector<DeviceInfo>> {
            return unsupported(
                "this build has no CPU device (HALFTONE_CPU=OFF)");
          },
          nullptr};
#endif
}

Family cudaFamily() {
#if HALFTONE_HAS_CUDA
  return {"cuda", true, cuda::describeGpus, cuda::openGpu};
#else
  return {"cuda", true,
          [](bool) -> Result<std::vector<DeviceInfo>> {
            return unsupported("this build has no CUDA device: CUDA's headers "
                               "were not there when it was built");
          },
          nullptr};
#endif
}

std::vector<Family> families() { return {cpuFamily(), cudaFamily()}; }

/// The number after the colon; 0 without one, -1 where it is none.
int indexIn(const std::string &id, size_t colon) {
  if (colon == std::string::npos)
    return 0;
  std::string digits = id.substr(colon + 1);
  bool valid = !digits.empty() && digits.size() < 6 &&
               digits.find_first_not_of("0123456789") == std::string::npos;
  return valid ? std::stoi(digits) : -1;
}

/// Names that no machine has are wrong usage; devices that this one lacks are
/// not.
Status noSuchDevice(StatusCode code, const std::string &id,
                    const std::string &why) {
  std::vector<std::string> ids;
  for (const Family &family : families())
    if (auto devices = family.list(false); devices.ok())
      for (const DeviceInfo &info : *devices)
        ids.push_back("'" + info.id + "'");
  std::string found =
      ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", "));
  return {code, fmt::format("no device '{}'{}{}; devices found: {}", id,
                            why.empty() ? "" : ": ", why, found)};
}

} // namespace

std::vector<DeviceInfo> listDevices(bool details) {
  std::vector<DeviceInfo> all;
  for (const Family &family : families())
    if (auto devices = family.list(details); devices.ok())
      all.insert(all.end(), devices->begin(), devices->end());
  return all;
}

std::vector<MissingDevices> missingDevices() {
  std::vector<MissingDevices> all;
  for (const Family &family : families())
    if (auto devices = family.list(false); !devices.ok())
      all.push_back({family.name, devices.status().message()});
  return all;
}

Result<std::unique_ptr<Device>> openDevice(const std::string &id) {
  size_t colon = id.find(':');
  std::string name = id.substr(0, colon);
  int index = indexIn(id, colon);
  for (const Family &family : families()) {
    if (family.name != name)
      continue;
    if (index < 0 || (!family.numbered && colon != std::string::npos))
      break;
    auto devices = family.list(false);
    if (!devices.ok())
      return noSuchDevice(devices.status().code(), id,
                          devices.status().message());
    return index < static_cast<int>(devices->size())
               ? family.open(index)
               : noSuchDevice(StatusCode::Unsupported, id, "");
  }
  return noSuchDevice(StatusCode::InvalidInput, id, "");
}

} // namespace halftone::runtime
