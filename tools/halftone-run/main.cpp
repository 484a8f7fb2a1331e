// SPDX-License-Identifier: Apache-2.0
// halftone-run: trains and evaluates plans. Reads the command line; exit codes:
// 0 done, 1 the run failed, 2 wrong usage or refused input, 130 interrupted
// (after saving what there was).
#include "runtime/base/StandardStreams.h"
#include "tools/halftone-run/Commands.h"
#include "tools/halftone-run/Flags.h"
#include "tools/halftone-run/Output.h"
#include "tools/halftone-run/ThreadWaits.h"

#include <new>

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

/// A run whose result could not be written has failed.
int finish(const Status &result) {
  Status status = result.ok() ? outputStatus() : result;
  if (!status.ok())
    putError("halftone-run: error: " + status.message());
  return exitCode(status);
}

int finish(const runtime::Result<int> &result) {
  int code = finish(result.status());
  return code == 0 ? *result : code;
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
    } catch (const CLI::CallForHelp &) {
      put(app.help());
      return finish(Status());
    } catch (const CLI::ParseError &error) {
      return finish(runtime::invalidInput(explain(error)));
    }
    if (!later.empty())
      return finish(runtime::invalidInput(later + " is not available yet"));
    if (version) {
      printVersion();
      return finish(Status());
    }
    if (action)
      return action();
    putError(app.help());
    return 2;
  }

private:
  /// What was wrong with the command line, and where the right one is
  /// described.
  std::string explain(const CLI::ParseError &error) const {
    std::vector<CLI::App *> commands = app.get_subcommands();
    std::string text = error.what();
    if (std::vector<std::string> extras = app.remaining(true);
        !extras.empty()) {
      const std::string &first = extras.front();
      text = first.starts_with("-") ? "there is no option '" + first + "'"
             : commands.empty()     ? "there is no command '" + first + "'"
                                : "'" + first + "' is one argument too many";
    }
    return fmt::format("{}; see 'halftone-run {}--help'", text,
                       commands.empty() ? ""
                                        : commands.back()->get_name() + " ");
  }

  CLI::App &add(const char *name, const char *summary,
                const std::function<int()> &chosen) {
    CLI::App *command = app.add_subcommand(name, summary);
    command->callback([this, chosen] { action = chosen; });
    return *command;
  }

  /// The options that all commands over a plan share.
  static void addCommon(CLI::App &command, CommonOptions &options, Data data) {
    addText(command, "plan", options.plan, "PLAN",
            "The plan that 'halftone compile' wrote")
        ->required();
    if (data == Data::Needed)
      addText(command, "--data", options.data, "FILE",
              "Arrays by input name, and 'target' (.npz, .npy, .safetensors)")
          ->required();
    addText(command, "--weights", options.weights, "FILE|DIR",
            "A .safetensors file or a folder that train wrote, instead of the "
            "plan's own weights");
    addText(command, "--device", options.device, "DEVICE",
            "cpu or cuda:K; default: what the plan was compiled for");
    addNumber<uint64_t>(command, "--seed", options.seed, 0, UINT64_MAX,
                        "Seed of drawn weights, shuffling and dropout; "
                        "default: the plan's");
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

  static CLI::Option *addOut(CLI::App &command, CommonOptions &options,
                             const char *type, const char *help) {
    return addText(command, "--out", options.out, type, help);
  }

  void addTrain() {
    CLI::App &command = add("train", "Train a plan on data",
                            [this] { return finish(train(trainOptions)); });
    addCommon(command, trainOptions, Data::Needed);
    addText(command, "--val", trainOptions.validation, "FILE",
            "Data to evaluate on");
    auto addSteps = [&](const char *name, int64_t &value, const char *help) {
      addNumber<int64_t>(command, name, value, 1, kMostSteps, help);
    };
    addSteps("--eval-every", trainOptions.evalEvery,
             "Steps between evaluations; default: only at the end");
    addSteps("--checkpoint-every", trainOptions.checkpointEvery,
             "Steps between checkpoints; default: at the end of epochs");
    addSteps("--steps", trainOptions.steps,
             "Steps in all, those before a --resume included");
    addSteps("--epochs", trainOptions.epochs, "Epochs in all; default: 1");
    addOut(command, trainOptions, "DIR",
           "Folder of the run; default: runs/NAME-NNN");
    addText(command, "--resume", trainOptions.resume, "DIR",
            "Go on with the run in DIR");
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
    command.add_flag("--overwrite", options.overwrite,
                     "Write over an older predictions.npz");
  }

  void addBench() {
    CLI::App &command = add("bench", "Time train steps on made-up data",
                            [this] { return finish(bench(benchOptions)); });
    addCommon(command, benchOptions, Data::None);
    constexpr int kMostTimed = 1'000'000;
    addNumber<int>(command, "--warmup", benchOptions.warmup, 0, kMostTimed,
                   "Steps before, default 5");
    addNumber<int>(command, "--steps", benchOptions.steps, 1, kMostTimed,
                   "Steps timed, default 20");
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
  halftone::runtime::holdStandardStreams();
  halftone::run::shortenThreadWaits(argv);
  // The last resort: libraries report failures as values, the standard library
  // may still throw.
  try {
    halftone::run::ignoreWriteSignals();
    return halftone::run::CommandLine().run(argc, argv);
  } catch (const std::bad_alloc &) {
    halftone::run::putError("halftone-run: error: the machine's memory is used "
                            "up; use a smaller batch or smaller data");
  } catch (const std::exception &error) {
    halftone::run::putError(std::string("halftone-run: error: ") +
                            error.what());
  }
  return 1;
}
