// SPDX-License-Identifier: Apache-2.0
// The driver's linker makes a cubin out of PTX, so that it can be kept.
#include "runtime/libs/cuda/PtxModule.h"

#include <array>
#include <fmt/format.h>

namespace halftone::runtime::cuda {
namespace {

/// The options that make the driver write its complaints into a buffer. Must
/// stay in place until the call, or the link, is over.
class ErrorLog {
public:
  ErrorLog() = default;
  ErrorLog(const ErrorLog &) = delete;
  ErrorLog &operator=(const ErrorLog &) = delete;

  unsigned count() const { return static_cast<unsigned>(options.size()); }
  CUjit_option *names() { return options.data(); }
  void **values() { return optionValues.data(); }

  /// `status` with the log behind it.
  Status with(const Status &status) const {
    std::string log(text.data());
    while (!log.empty() && (log.back() == '\n' || log.back() == ' '))
      log.pop_back();
    return log.empty()
               ? status
               : Status(status.code(), fmt::format("{}; the driver's log: {}",
                                                   status.message(), log));
  }

private:
  std::array<char, 8192> text{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER,
                                      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void *, 2> optionValues{
      text.data(), reinterpret_cast<void *>(uintptr_t{sizeof text})};
};

/// A link in progress.
class Link {
public:
  explicit Link(const Driver &driver) : driver(driver) {}
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;
  ~Link() {
    if (state)
      driver.linkDestroy(state);
  }

  CUresult add(const std::string &ptx) {
    CUresult result =
        driver.linkCreate(log.count(), log.names(), log.values(), &state);
    if (result != CUDA_SUCCESS)
      return result;
    // The driver only reads the text, and wants its terminating zero.
    return driver.linkAddData(state, CU_JIT_INPUT_PTX,
                              const_cast<char *>(ptx.c_str()), ptx.size() + 1,
                              "kernel.ptx", 0, nullptr, nullptr);
  }

  CUresult complete(std::string &cubin) {
    void *code = nullptr;
    size_t size = 0;
    CUresult result = driver.linkComplete(state, &code, &size);
    if (result == CUDA_SUCCESS)
      cubin.assign(static_cast<const char *>(code), size);
    return result;
  }

  ErrorLog log;

private:
  const Driver &driver;
  CUlinkState state = nullptr;
};

} // namespace

Result<CUfunction> LoadedModule::function(const std::string &name) const {
  CUfunction function = nullptr;
  HALFTONE_RETURN_IF_ERROR(toStatus(
      *driver, driver->moduleGetFunction(&function, module, name.c_str()),
      fmt::format("looking for kernel '{}' in its module", name)));
  return function;
}

Result<std::string> compilePtx(const Driver &driver, const std::string &ptx) {
  // Text only: the driver would take a binary for what it claims to be.
  size_t begin = ptx.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || ptx.find('\0') != std::string::npos)
    return invalidInput("the kernel code is empty or no PTX text");
  Link link(driver);
  std::string cubin;
  CUresult result = link.add(ptx);
  if (result == CUDA_SUCCESS)
    result = link.complete(cubin);
  HALFTONE_RETURN_IF_ERROR(
      link.log.with(toStatus(driver, result, "compiling PTX")));
  return cubin;
}

Result<LoadedModule> loadModule(const Driver &driver, const std::string &code) {
  ErrorLog log;
  CUmodule module = nullptr;
  CUresult result = driver.moduleLoadDataEx(&module, code.c_str(), log.count(),
                                            log.names(), log.values());
  HALFTONE_RETURN_IF_ERROR(
      log.with(toStatus(driver, result, "loading a kernel module")));
  return LoadedModule(driver, module);
}

} // namespace halftone::runtime::cuda
