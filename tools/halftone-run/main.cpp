// SPDX-License-Identifier: Apache-2.0
// halftone-run: trains and evaluates plans. Reads the command line; exit codes:
// 0 done, 1 the run failed, 2 wrong usage or refused input, 130 interrupted
// (after saving what there was).
#include "tools/halftone-run/Commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace halftone::run {
namespace {
using runtime::Status;
using runtime::StatusCode;

int exitCode(const Status &status) {
  switch (status.code()) {
  case StatusCode::Ok:
    return 0;
  case StatusCode::InvalidInput:
    return 2;
  default:
    return 1;
  }
}

int finish(const Status &status) {
  std::fflush(stdout);
  if (!status.ok())
    fmt::print(stderr, "halftone-run: error: {}\n", status.message());
  return exitCode(status);
}

/// Whether a command reads a data file.
enum class Data { Needed, None };

/// The options and what was given for them. Parsing chooses the action.
class CommandLine {
public:
  CommandLine() {
    app.require_subcommand(0, 1);
    app.add_flag("--version", version, "Version, devices and libraries");
    addTrain();
    addGrads();
    addEval();
    addPredict();
    addBench();
    addTrace();
    addDevices();
  }

  int run(int argc, char **argv) {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      return app.exit(error) == 0 ? 0 : 2;
    }
    if (!later.empty())
      return finish(runtime::invalidInput(later + " is not available yet"));
    if (version) {
      printVersion();
      return 0;
    }
    if (action)
      return action();
    fmt::print(stderr, "{}", app.help());
    return 2;
  }

private:
  CLI::App &add(const char *name, const char *summary,
                std::function<int()> chosen) {
    CLI::App *command = app.add_subcommand(name, summary);
    command->callback([this, chosen] { action = chosen; });
    return *command;
  }

  /// The options that all commands over a plan share.
  static void addCommon(CLI::App &command, CommonOptions &options, Data data) {
    command
        .add_option("plan", options.plan,
                    "The plan that 'halftone compile' wrote")
        ->required()
        ->type_name("PLAN");
    if (data == Data::Needed)
      command
          .add_option("--data", options.data,
                      "Arrays by input name, and 'target' (.npz, .npy, "
                      ".safetensors)")
          ->required()
          ->type_name("FILE");
    command
        .add_option("--weights", options.weights,
                    "A .safetensors file or a folder that train wrote, instead "
                    "of the plan's own weights")
        ->type_name("FILE|DIR");
    command
        .add_option("--device", options.device,
                    "cpu or cuda:K; default: what the plan was compiled for")
        ->type_name("DEVICE");
    command
        .add_option("--seed", options.seed,
                    "Seed of drawn weights, shuffling and dropout; default: "
                    "the plan's")
        ->type_name("N");
  }

  /// An option that the contract names and this version does not do.
  void addLater(CLI::App &command, const std::string &name) {
    command
        .add_option_function<std::vector<std::string>>(
            name,
            [this, name](const std::vector<std::string> &) { later = name; },
            "Not available yet")
        ->expected(0, 1)
        ->group("");
  }

  static void addCount(CLI::App &command, const char *name, auto &value,
                       const char *help) {
    command.add_option(name, value, help)
        ->check(CLI::PositiveNumber)
        ->type_name("N");
  }

  static CLI::Option *addOut(CLI::App &command, CommonOptions &options,
                             const char *type, const char *help) {
    return command.add_option("--out", options.out, help)->type_name(type);
  }

  void addTrain() {
    CLI::App &command = add("train", "Train a plan on data", [this] {
      runtime::Result<int> code = train(trainOptions);
      return code.ok() ? *code : finish(code.status());
    });
    addCommon(command, trainOptions, Data::Needed);
    command.add_option("--val", trainOptions.validation, "Data to evaluate on")
        ->type_name("FILE");
    addCount(command, "--eval-every", trainOptions.evalEvery,
             "Steps between evaluations; default: only at the end");
    addCount(command, "--steps", trainOptions.steps,
             "Steps in all, those before a --resume included");
    addCount(command, "--epochs", trainOptions.epochs,
             "Epochs in all; default: 1");
    addOut(command, trainOptions, "DIR",
           "Folder of the run; default: runs/NAME-NNN");
    command
        .add_option("--resume", trainOptions.resume,
                    "Go on with the run in DIR")
        ->type_name("DIR");
    command.add_flag("--overwrite", trainOptions.overwrite,
                     "Replace a run in the --out folder");
    command.add_flag("--no-shuffle", trainOptions.keepOrder,
                     "Take the rows in the file's order");
    addLater(command, "--profile");
    addLater(command, "--watch");
  }

  void addGrads() {
    CLI::App &command =
        add("grads", "One forward and backward pass, gradients into an .npz",
            [this] { return finish(grads(options)); });
    addCommon(command, options, Data::Needed);
    addOut(command, options, "OUT.npz", "Where to write")->required();
  }

  void addEval() {
    CLI::App &command = add("eval", "Loss and accuracy on data",
                            [this] { return finish(eval(options)); });
    addCommon(command, options, Data::Needed);
    addOut(command, options, "OUT.npz", "Write the outputs as well");
  }

  void addPredict() {
    CLI::App &command = add("predict", "The model's outputs on data",
                            [this] { return finish(predict(options)); });
    addCommon(command, options, Data::Needed);
    addOut(command, options, "OUT.npz",
           "Where to write; default: predictions.npz");
  }

  void addBench() {
    CLI::App &command = add("bench", "Time train steps on made-up data",
                            [this] { return finish(bench(benchOptions)); });
    addCommon(command, benchOptions, Data::None);
    command
        .add_option("--warmup", benchOptions.warmup, "Steps before, default 5")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N");
    addCount(command, "--steps", benchOptions.steps, "Steps timed, default 20");
    command.add_flag("--by-node", benchOptions.byNode,
                     "Times of the plan's nodes too");
  }

  void addTrace() {
    CLI::App &command =
        add("trace", "Run one step and keep every plan step's operands",
            [this] { return finish(trace(options, program)); });
    addCommon(command, options, Data::Needed);
    addOut(command, options, "DIR", "An empty or new folder")->required();
    command.add_option("--program", program, "train (default) or eval")
        ->check(CLI::IsMember({"train", "eval"}));
  }

  void addDevices() {
    CLI::App &command = add("devices", "The devices of this machine",
                            [this] { return finish(devices(asJson)); });
    command.add_flag("--json", asJson, "As one JSON line");
  }

  CLI::App app{"Trains and evaluates plans made by 'halftone compile'.",
               "halftone-run"};
  std::function<int()> action;
  std::string later;
  bool version = false, asJson = false;
  TrainOptions trainOptions;
  BenchOptions benchOptions;
  CommonOptions options; ///< Of grads, eval, predict and trace.
  std::string program = "train";
};
} // namespace
} // namespace halftone::run

int main(int argc, char **argv) {
  // The last resort: libraries report failures as values, the standard library
  // may still throw (no memory left).
  try {
    return halftone::run::CommandLine().run(argc, argv);
  } catch (const std::exception &error) {
    fmt::print(stderr, "halftone-run: error: {}\n", error.what());
    return 1;
  }
}
