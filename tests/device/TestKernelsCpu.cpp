// SPDX-License-Identifier: Apache-2.0
// LLVM IR text assembled to the bitcode that plans hold.
#include "tests/device/TestKernels.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

namespace halftone::runtime::test {
namespace {

struct Body {
  std::string text;  ///< The element's index in %i; buffers in %b0, %b1, %b2.
  std::string after; ///< Declarations outside the function.
};

std::string lowBody(const std::string &type) {
  return fmt::format(R"(
  %xp = getelementptr {0}, ptr %b0, i64 %i
  %yp = getelementptr {0}, ptr %b1, i64 %i
  %x = load {0}, ptr %xp
  %w = fpext {0} %x to float
  %m = fmul float %w, 0x3FD3333340000000
  %y = fptrunc float %m to {0}
  store {0} %y, ptr %yp)",
                     type);
}

Body bodyOf(const std::string &name) {
  if (name == "axpy")
    return {R"(
  %xp = getelementptr float, ptr %b0, i64 %i
  %yp = getelementptr float, ptr %b1, i64 %i
  %op = getelementptr float, ptr %b2, i64 %i
  %x = load float, ptr %xp
  %y = load float, ptr %yp
  %m = fmul float %x, 0x3FB99999A0000000
  %o = fadd float %m, %y
  store float %o, ptr %op)",
            ""};
  if (name == "increment")
    return {R"(
  %xp = getelementptr float, ptr %b0, i64 %i
  %x = load float, ptr %xp
  %o = fadd float %x, 1.0
  store float %o, ptr %xp)",
            ""};
  if (name == "half" || name == "bfloat")
    return {lowBody(name), ""};
  if (name == "exp")
    return {R"(
  %xp = getelementptr float, ptr %b0, i64 %i
  %op = getelementptr float, ptr %b1, i64 %i
  %x = load float, ptr %xp
  %o = call float @expf(float %x)
  store float %o, ptr %op)",
            "declare float @expf(float)\n"};
  if (name == "row_sum")
    return {R"(
  %row = mul i64 %i, 64
  %op = getelementptr float, ptr %b1, i64 %i
  br label %inner
inner:
  %j = phi i64 [0, %loop], [%j1, %inner]
  %s = phi float [0.0, %loop], [%s1, %inner]
  %at = add i64 %row, %j
  %xp = getelementptr float, ptr %b0, i64 %at
  %x = load float, ptr %xp
  %s1 = fadd float %s, %x
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, 64
  br i1 %more, label %inner, label %stored
stored:
  store float %s1, ptr %op)",
            ""};
  return {"\n  call void @nobody_defines_this()",
          "declare void @nobody_defines_this()\n"};
}

int bufferCount(const std::string &name) {
  return name == "axpy" ? 3 : name == "increment" || name == "missing" ? 1 : 2;
}

std::string assemble(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module)
    return "not assembled: " + diagnostic.getMessage().str();
  std::string code;
  llvm::raw_string_ostream stream(code);
  llvm::WriteBitcodeToFile(*module, stream);
  return stream.str();
}

} // namespace

std::string bitcode(const std::string &name) {
  Body body = bodyOf(name);
  std::string loads;
  for (int i = 0; i < bufferCount(name); ++i)
    loads += fmt::format("  %p{0} = getelementptr ptr, ptr %buffers, i64 {0}\n"
                         "  %b{0} = load ptr, ptr %p{0}\n",
                         i);
  return assemble(fmt::format(
      R"(define void @{}(ptr %buffers, i64 %begin, i64 %end) {{
entry:
{}  %any = icmp slt i64 %begin, %end
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [%begin, %entry], [%next, %latch]{}
  br label %latch
latch:
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret void
}}
{})",
      name, loads, body.text, body.after));
}

} // namespace halftone::runtime::test
