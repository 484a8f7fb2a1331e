// SPDX-License-Identifier: Apache-2.0
// The compiler's command line: a table of subcommands, the files beside this
// one do the work.
#include "runtime/base/StandardStreams.h"
#include "tools/halftone/CompileCommand.h"
#include "tools/halftone/Inspect.h"
#include "tools/halftone/Output.h"
#include "llvm/Config/llvm-config.h"
#include <fmt/format.h>
#include <sstream>

using namespace halftone::tools;

namespace {

std::string version() {
  return fmt::format("halftone {}\ntargets: cpu, cuda (PTX)\nbuilt with: "
                     "LLVM/MLIR {}, ONNX {}, Protobuf {}",
                     HALFTONE_VERSION, LLVM_VERSION_STRING,
                     HALFTONE_ONNX_VERSION, HALFTONE_PROTOBUF_VERSION);
}

/// --help and --version end the parsing as well, with text for stdout.
int finishParse(const CLI::App &app, const CLI::ParseError &error) {
  std::ostringstream out, complaint;
  if (app.exit(error, out, complaint) == 0)
    return print(out.str());
  std::string command = "halftone", what = error.what();
  if (auto rest = app.remaining();
      app.get_subcommands().empty() && !rest.empty())
    what = fmt::format("there is no command or option '{}'", rest.front());
  for (const CLI::App *chosen : app.get_subcommands())
    command += " " + chosen->get_name();
  say("error", fmt::format("{} (see {} --help)", what, command));
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  halftone::runtime::holdStandardStreams();
  CLI::App app("Compiles an ONNX model into a mixed-precision training plan.",
               "halftone");
  app.require_subcommand(1);
  app.set_version_flag("--version", version());

  CompileFlags compileFlags;
  CLI::App *compile =
      app.add_subcommand("compile", "compile MODEL.onnx into a plan");
  declareCompileFlags(*compile, compileFlags);
  InspectFlags inspectFlags;
  CLI::App *inspect =
      app.add_subcommand("inspect", "print a plan's coloured graph");
  declareInspectFlags(*inspect, inspectFlags);
  std::vector<CLI::App *> later;
  for (const char *name : {"diff", "check", "calibrate", "convert", "policy",
                           "verify", "tune", "export"}) {
    later.push_back(app.add_subcommand(name, "not available yet"));
    later.back()->allow_extras();
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return finishParse(app, error);
  }
  for (CLI::App *command : later)
    if (*command) {
      say("error",
          fmt::format("halftone {} is not available yet", command->get_name()));
      return 2;
    }
  return *compile ? runCompile(compileFlags) : runInspect(inspectFlags);
}
