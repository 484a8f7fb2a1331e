// SPDX-License-Identifier: Apache-2.0
// Compiling takes the driver 10 to 150 ms a kernel, so it is done on several
// threads and once a machine.
#include "runtime/device/cuda/KernelModules.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fstream>
#include <system_error>
#include <thread>

namespace halftone::runtime::cuda {
namespace {

constexpr size_t kMaxThreads = 8;
constexpr uint32_t kPlainSharedBytes = 48 << 10;

Result<LoadedModule> loadOne(CudaContext &context, const CubinCache &cache,
                             const CubinTarget &target,
                             const std::string &ptx) {
  const Driver &driver = context.driver;
  if (auto known = cache.find(ptx, target))
    if (auto module = loadModule(driver, *known); module.ok())
      return module;
  auto cubin = compilePtx(driver, ptx);
  HALFTONE_RETURN_IF_ERROR(cubin);
  auto module = loadModule(driver, *cubin);
  if (module.ok())
    cache.store(ptx, target, *cubin);
  return module;
}

/// Whether the function takes exactly `arguments` addresses. The driver answers
/// CUDA_ERROR_INVALID_VALUE behind the last one.
Result<bool> takes(CudaContext &context, CUfunction function,
                   size_t arguments) {
  for (size_t i = 0;; ++i) {
    size_t offset = 0, size = 0;
    CUresult result =
        context.driver.funcGetParamInfo(function, i, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE)
      return i == arguments;
    HALFTONE_RETURN_IF_ERROR(
        context.check(result, "asking for a kernel's arguments"));
    if (i == arguments || size != sizeof(CUdeviceptr))
      return false;
  }
}

} // namespace

std::string driverRelease(const Driver &driver) {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  if (file >> release)
    return release;
  return "CUDA " + driver.versionText();
}

KernelModules KernelModules::load(CudaContext &context, const CubinCache &cache,
                                  const std::vector<Module> &modules) {
  KernelModules loaded;
  // The kernel's part of the driver and the library that compiles may be of
  // different releases (compatibility packages).
  CubinTarget target{fmt::format("{} CUDA {}", driverRelease(context.driver),
                                 context.driver.versionText()),
                     context.architecture()};
  for (size_t i = 0; i < modules.size(); ++i)
    loaded.modules.emplace_back(failed("not loaded"));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    Status entered = context.enter();
    for (size_t i = next++; i < modules.size(); i = next++)
      loaded.modules[i] = entered.ok()
                              ? loadOne(context, cache, target, modules[i].code)
                              : Result<LoadedModule>(entered);
  };
  std::vector<std::thread> helpers;
  size_t count = std::min<size_t>(
      {modules.size(), kMaxThreads, std::thread::hardware_concurrency()});
  try {
    for (size_t i = 1; i < count; ++i)
      helpers.emplace_back(work);
  } catch (const std::system_error &) {
    // No more threads may be had: those that are there do the work.
  }
  work();
  for (std::thread &helper : helpers)
    helper.join();
  return loaded;
}

Result<CUfunction> KernelModules::function(CudaContext &context,
                                           const Kernel &kernel,
                                           size_t arguments) const {
  const Driver &driver = context.driver;
  std::string what = fmt::format("kernel '{}'", kernel.name);
  const Result<LoadedModule> &module = modules[kernel.module];
  HALFTONE_RETURN_IF_ERROR(withContext(what, module.status()));
  auto function = module->function(kernel.name);
  HALFTONE_RETURN_IF_ERROR(function);
  auto fits = takes(context, *function, arguments);
  HALFTONE_RETURN_IF_ERROR(withContext(what, fits.status()));
  if (!*fits)
    return invalidInput(
        fmt::format("{} does not take the {} addresses that its step has; "
                    "compile the plan again",
                    what, arguments));
  if (kernel.sharedBytes > kPlainSharedBytes)
    HALFTONE_RETURN_IF_ERROR(context.check(
        driver.funcSetAttribute(*function,
                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                static_cast<int>(kernel.sharedBytes)),
        fmt::format("giving {} its {} bytes of shared memory", what,
                    kernel.sharedBytes)));
  int limit = 0;
  HALFTONE_RETURN_IF_ERROR(context.check(
      driver.funcGetAttribute(&limit, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                              *function),
      what));
  uint32_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  if (threads > static_cast<uint32_t>(limit))
    return invalidInput(
        fmt::format("{} is launched with {} threads a block, this GPU runs it "
                    "with at most {}; compile the plan for this GPU (--target "
                    "cuda:sm_{})",
                    what, threads, limit, context.architecture()));
  return function;
}

} // namespace halftone::runtime::cuda
