// SPDX-License-Identifier: Apache-2.0
// What `halftone-run devices` says of GPUs, and which plans fit them. No
// context is made for it.
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/KernelModules.h"
#include "runtime/libs/cublaslt/CublasLtLibrary.h"
#include "runtime/libs/cudnn/CudnnLibrary.h"
#include "runtime/libs/nccl/NcclLibrary.h"

#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

std::string tooOldText() {
  return fmt::format("a GPU of compute capability {}.{} (sm_{}) or newer is "
                     "needed",
                     kLeastSm / 10, kLeastSm % 10, kLeastSm);
}

std::string tensorCoreTypes(int sm) {
  return sm >= 89   ? "float16, bfloat16, tf32, float8"
         : sm >= 80 ? "float16, bfloat16, tf32"
         : sm >= 70 ? "float16"
                    : "none";
}

/// The precision that --precision auto takes there.
std::string automaticPrecision(int sm) {
  return sm >= kLeastSm ? "bf16" : "none: " + tooOldText();
}

template <typename Library>
std::string versionOf(const Result<const Library *> &library) {
  return library.ok() ? (*library)->version : library.status().message();
}

Result<DeviceInfo> describe(const Driver &driver, int index) {
  CUdevice device = 0;
  char name[256] = "";
  size_t bytes = 0;
  int major = 0, minor = 0, multiprocessors = 0;
  CUresult result = driver.deviceGet(&device, index);
  auto then = [&](auto function, auto... arguments) {
    if (result == CUDA_SUCCESS)
      result = function(arguments..., device);
  };
  then(driver.deviceGetName, name, int{sizeof name});
  then(driver.deviceTotalMem, &bytes);
  then(driver.deviceGetAttribute, &major,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  then(driver.deviceGetAttribute, &minor,
       CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  then(driver.deviceGetAttribute, &multiprocessors,
       CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  HALFTONE_RETURN_IF_ERROR(
      toStatus(driver, result, fmt::format("describing GPU {}", index)));
  int sm = 10 * major + minor;
  return DeviceInfo{
      .id = fmt::format("cuda:{}", index),
      .target = "cuda",
      .name = name,
      .architecture = fmt::format("sm_{}", sm),
      .totalBytes = bytes,
      .properties = {{"multiprocessors", std::to_string(multiprocessors)},
                     {"tensor_cores", tensorCoreTypes(sm)},
                     {"auto", automaticPrecision(sm)},
                     {"driver", driverRelease(driver)},
                     {"CUDA", driver.versionText()}}};
}

} // namespace

Result<std::vector<DeviceInfo>> describeGpus(bool libraries) {
  auto driver = loadDriver();
  HALFTONE_RETURN_IF_ERROR(driver);
  int count = 0;
  HALFTONE_RETURN_IF_ERROR(
      toStatus(**driver, (*driver)->deviceGetCount(&count), "counting GPUs"));
  if (count == 0)
    return noGpu();
  std::vector<DeviceInfo> all;
  for (int i = 0; i < count; ++i) {
    auto info = describe(**driver, i);
    if (!info.ok()) {
      // The others may do.
      all.push_back(
          {.id = fmt::format("cuda:{}", i),
           .target = "cuda",
           .name = "unknown",
           .architecture = "",
           .properties = {{"auto", "none: " + info.status().message()}}});
      continue;
    }
    if (libraries) {
      info->properties.emplace_back("cuBLASLt",
                                    versionOf(cublaslt::loadLibrary()));
      info->properties.emplace_back("cuDNN", versionOf(cudnn::loadLibrary()));
      info->properties.emplace_back("NCCL", versionOf(nccl::loadLibrary()));
    }
    all.push_back(std::move(*info));
  }
  return all;
}

Result<DeviceInfo> describeGpu(int index) {
  auto driver = loadDriver();
  HALFTONE_RETURN_IF_ERROR(driver);
  return describe(**driver, index);
}

Status checkArchitecture(int sm, const std::string &gpu) {
  if (sm >= kLeastSm)
    return {};
  return unsupported(fmt::format("{} is sm_{}: {}; plans compiled with "
                                 "--target cpu run here with --device cpu",
                                 gpu, sm, tooOldText()));
}

bool architectureCovers(int sm, const std::string &needed) {
  if (needed.empty())
    return true;
  constexpr std::string_view kPrefix = "sm_";
  if (!needed.starts_with(kPrefix))
    return false;
  size_t digits = needed.find_first_not_of("0123456789", kPrefix.size());
  std::string number = needed.substr(
      kPrefix.size(),
      digits == std::string::npos ? digits : digits - kPrefix.size());
  if (number.empty() || number.size() > 4)
    return false;
  int wanted = std::stoi(number);
  if (digits == std::string::npos)
    return sm >= wanted;
  return needed.substr(digits) == "a" && sm == wanted;
}

} // namespace halftone::runtime::cuda
