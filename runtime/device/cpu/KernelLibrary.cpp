// SPDX-License-Identifier: Apache-2.0
// Modules become object files in parallel, then ORC links them. Each module has
// a symbol table of its own, so that equal names in two modules do not clash.
#include "runtime/device/cpu/KernelLibrary.h"

#include "runtime/base/Float16.h"
#include "runtime/device/cpu/ObjectCompiler.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <fmt/format.h>
#include <mutex>

namespace halftone::runtime::cpu {

struct KernelLibrary::Jit {
  std::unique_ptr<llvm::orc::LLJIT> lljit;
};

namespace {

using llvm::orc::ExecutorAddr;
using llvm::orc::ExecutorSymbolDef;

/// The conversions that LLVM calls where the processor has no instruction for
/// them. On x86-64 a 16-bit float travels in the low bits of a vector register,
/// as these signatures say; the C library's versions are not always there.
float extendHalf(float low) {
  return float16ToFloat(static_cast<uint16_t>(std::bit_cast<uint32_t>(low)));
}
float truncateHalf(float value) {
  return std::bit_cast<float>(static_cast<uint32_t>(floatToFloat16(value)));
}
float truncateBfloat(float value) {
  return std::bit_cast<float>(static_cast<uint32_t>(floatToBfloat16(value)));
}

/// Collects what ORC would print to standard error.
struct SessionErrors {
  std::mutex mutex;
  std::string text;

  void add(llvm::Error error) {
    std::lock_guard lock(mutex);
    text += (text.empty() ? "" : "; ") + llvm::toString(std::move(error));
  }
};

Status link(const std::string &what, llvm::Error error,
            SessionErrors &details) {
  std::string text = llvm::toString(std::move(error));
  if (!details.text.empty())
    text = details.text + " (" + text + ")";
  return failed(what + ": " + text);
}

llvm::Error addConversions(llvm::orc::LLJIT &jit, llvm::orc::JITDylib &dylib) {
  if (!jit.getTargetTriple().isX86())
    return llvm::Error::success();
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, float (*function)(float)) {
    symbols[jit.mangleAndIntern(name)] = ExecutorSymbolDef(
        ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
  };
  add("__extendhfsf2", extendHalf);
  add("__truncsfhf2", truncateHalf);
  add("__truncsfbf2", truncateBfloat);
  return dylib.define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

Result<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileAll(const ObjectCompiler &compiler, std::span<const Module> modules) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects(modules.size());
  std::vector<Status> outcomes(modules.size());
  int64_t count = static_cast<int64_t>(modules.size());
#pragma omp parallel for schedule(dynamic) if (count > 1)
  for (int64_t i = 0; i < count; ++i) {
    auto object = compiler.compile(modules[i].code);
    if (object.ok())
      objects[i] = std::move(*object);
    else
      outcomes[i] = object.status();
  }
  for (const Status &outcome : outcomes)
    HALFTONE_RETURN_IF_ERROR(outcome);
  return objects;
}

} // namespace

KernelLibrary::KernelLibrary() = default;
KernelLibrary::~KernelLibrary() = default;

Result<std::unique_ptr<KernelLibrary>>
KernelLibrary::load(std::span<const Module> modules,
                    std::span<const Kernel> kernels) {
  auto compiler = ObjectCompiler::forHost();
  HALFTONE_RETURN_IF_ERROR(compiler);
  auto objects = compileAll(*compiler, modules);
  HALFTONE_RETURN_IF_ERROR(objects);

  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(compiler->target())
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return failed("LLVM's JIT does not start: " +
                  llvm::toString(jit.takeError()));
  SessionErrors errors;
  llvm::orc::ExecutionSession &session = (*jit)->getExecutionSession();
  session.setErrorReporter(
      [&](llvm::Error error) { errors.add(std::move(error)); });

  std::vector<llvm::orc::JITDylib *> dylibs;
  for (size_t i = 0; i < objects->size(); ++i) {
    auto dylib = (*jit)->createJITDylib(fmt::format("module{}", i));
    if (!dylib)
      return link("LLVM's JIT", dylib.takeError(), errors);
    if (auto error = addConversions(**jit, *dylib))
      return link("LLVM's JIT", std::move(error), errors);
    if (auto error = (*jit)->addObjectFile(*dylib, std::move((*objects)[i])))
      return link("a module of kernels", std::move(error), errors);
    dylibs.push_back(&*dylib);
  }

  std::unique_ptr<KernelLibrary> library(new KernelLibrary());
  for (const Kernel &kernel : kernels) {
    auto address = (*jit)->lookup(*dylibs[kernel.module], kernel.name);
    if (!address)
      return link(fmt::format("kernel '{}'", kernel.name), address.takeError(),
                  errors);
    library->functions.push_back(address->toPtr<KernelFunction>());
  }
  session.setErrorReporter(llvm::consumeError);
  library->jit = std::make_unique<Jit>(std::move(*jit));
  return library;
}

} // namespace halftone::runtime::cpu
