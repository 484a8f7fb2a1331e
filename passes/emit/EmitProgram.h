// SPDX-License-Identifier: Apache-2.0
// One exec.program as messages: buffers, steps, outputs.
#pragma once
#include "compiler/exec/ExecOps.h"
#include "runtime/plan/plan.pb.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace halftone::passes {

/// Buffers of a plan, each once: programs share those that lie at the same
/// place with the same type and name.
class BufferTable {
public:
  BufferTable(proto::Plan &plan, const std::map<std::string, uint32_t> &arenas)
      : plan(plan), arenas(arenas) {}
  /// Index of the buffer of an exec.buffer or exec.view of `program`.
  uint32_t indexOf(mlir::Value v, llvm::StringRef program);

private:
  proto::Plan &plan;
  const std::map<std::string, uint32_t> &arenas;
  llvm::StringMap<uint32_t> known;
};

/// Appends steps and outputs. `kernels`: symbol to index in plan.kernels.
void emitProgram(exec::ProgramOp program, BufferTable &buffers,
                 const llvm::StringMap<uint32_t> &kernels, proto::Program &out);

/// The type of a buffer's elements.
proto::ElementType elementType(mlir::Type type);

} // namespace halftone::passes
