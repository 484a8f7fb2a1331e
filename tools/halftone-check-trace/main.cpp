// SPDX-License-Identifier: Apache-2.0
// halftone-check-trace: compares what a device computed (halftone-run trace)
// with the host reference, step by step. Exit codes: 0 all agree, 1 some do
// not, 2 refused input.
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/pipeline/Pipeline.h"
#include "runtime/base/StandardStreams.h"
#include "tools/halftone-check-trace/TraceCheck.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace halftone;

int main(int argc, char **argv) {
  runtime::holdStandardStreams();
  CLI::App app("halftone-check-trace: compares the steps of a trace with the "
               "host reference, each within one rounding of its output");
  std::string ir, folder, program = "train";
  app.add_option("IR", ir,
                 "What halftone compile --compile-to memory prints, with the "
                 "options of the plan that ran")
      ->required();
  app.add_option("FOLDER", folder, "The folder of halftone-run trace")
      ->required();
  app.add_option("--program", program, "The program that was traced")
      ->check(CLI::IsMember({"train", "eval"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    fmt::print(stderr, "error: {} (see halftone-check-trace --help)\n",
               error.what());
    return 2;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  passes::loadDialects(context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(ir, &context);
  if (!module) {
    fmt::print(stderr, "error: {} is not the IR of a plan's steps\n", ir);
    return 2;
  }
  auto report = tools::checkTrace(*module, program, folder);
  if (!report.ok()) {
    fmt::print(stderr, "error: {}\n", report.status().message());
    return 2;
  }
  for (const std::string &mismatch : report->mismatches)
    fmt::print("{}\n", mismatch);
  fmt::print("{{\"program\":\"{}\",\"checked\":{},\"wrong\":{}}}\n", program,
             report->checked, report->mismatches.size());
  return report->mismatches.empty() ? 0 : 1;
}
