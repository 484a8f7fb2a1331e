// SPDX-License-Identifier: Apache-2.0
// LLVM bitcode to machine code for this processor, at O3.
#pragma once

#include "runtime/base/Status.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string_view>

namespace halftone::runtime::cpu {

class ObjectCompiler {
public:
  /// For this machine's processor with all it offers, less the extensions that
  /// flush subnormal numbers.
  static Result<ObjectCompiler> forHost();

  /// An object file. Fails on damaged bitcode and on IR that does not verify.
  /// May be called from several threads at once.
  Result<std::unique_ptr<llvm::MemoryBuffer>>
  compile(std::string_view bitcode) const;

  const llvm::orc::JITTargetMachineBuilder &target() const { return builder; }

private:
  explicit ObjectCompiler(llvm::orc::JITTargetMachineBuilder builder)
      : builder(std::move(builder)) {}

  llvm::orc::JITTargetMachineBuilder builder;
};

} // namespace halftone::runtime::cpu
