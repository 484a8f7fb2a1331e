// SPDX-License-Identifier: Apache-2.0
// halftone-run: trains and evaluates plans. Reads the command line; exit codes:
// 0 done, 1 the run failed, 2 wrong usage or refused input, 130 interrupted
// (after saving what there was).
#include "tools/halftone-run/Commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {
using namespace halftone;
using runtime::Status;
using runtime::StatusCode;

int exitCode(const Status &status) {
  switch (status.code()) {
  case StatusCode::Ok:
    return 0;
  case StatusCode::InvalidInput:
  case StatusCode::Unsupported:
    return 2;
  default:
    return 1;
  }
}

int finish(const Status &status) {
  if (!status.ok())
    fmt::print(stderr, "halftone-run: error: {}\n", status.message());
  return exitCode(status);
}

enum class Needs { Data, MayHaveData, NoData };

/// The options that all commands over a plan share.
void addCommon(CLI::App &command, run::CommonOptions &options, Needs data) {
  command
      .add_option("plan", options.plan,
                  "The plan that 'halftone compile' wrote")
      ->required()
      ->type_name("PLAN");
  if (data != Needs::NoData) {
    CLI::Option *option =
        command.add_option("--data", options.data,
                           "Arrays by input name, and 'target' (.npz, .npy, "
                           ".safetensors)");
    option->type_name("FILE")->required(data == Needs::Data);
  }
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
                  "Seed of weights, shuffling and dropout; default: the plan's")
      ->type_name("N");
}

/// Options that the command line knows but this version does not do.
void addLater(CLI::App &command, std::vector<std::string> &used,
              std::initializer_list<std::string> names) {
  for (const std::string &name : names)
    command
        .add_option_function<std::vector<std::string>>(
            name,
            [&used, name](const std::vector<std::string> &) {
              used.push_back(name);
            },
            "Not available yet")
        ->expected(0, 1)
        ->group("");
}

void addTrain(CLI::App &app, run::TrainOptions &options,
              std::vector<std::string> &later) {
  CLI::App &command = *app.add_subcommand("train", "Train a plan on data");
  addCommon(command, options, Needs::Data);
  command.add_option("--val", options.validation, "Data to evaluate on")
      ->type_name("FILE");
  command
      .add_option("--eval-every", options.evalEvery,
                  "Steps between evaluations; default: only at the end")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command
      .add_option("--steps", options.steps,
                  "Steps in all, those before a --resume included")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_option("--epochs", options.epochs, "Epochs in all; default: 1")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command
      .add_option("--out", options.out,
                  "Folder of the run; default: runs/NAME-NNN")
      ->type_name("DIR");
  command.add_option("--resume", options.resume, "Go on with the run in DIR")
      ->type_name("DIR");
  command.add_flag("--overwrite", options.overwrite,
                   "Replace a run in the --out folder");
  command.add_flag("!--no-shuffle", options.shuffle,
                   "Take the rows in the file's order");
  addLater(command, later, {"--profile", "--watch"});
}

int dispatch(int argc, char **argv) {
  CLI::App app("Trains and evaluates plans made by 'halftone compile'.",
               "halftone-run");
  app.require_subcommand(0, 1);
  bool version = false, asJson = false;
  app.add_flag("--version", version, "Version, devices and libraries");
  run::TrainOptions train;
  run::CommonOptions grads, eval, predict, trace;
  run::BenchOptions bench;
  std::string program = "train";
  std::vector<std::string> later;

  addTrain(app, train, later);
  CLI::App *command = app.add_subcommand(
      "grads", "One forward and backward pass, gradients into an .npz");
  addCommon(*command, grads, Needs::Data);
  command->add_option("--out", grads.out, "Where to write")
      ->required()
      ->type_name("OUT.npz");
  command = app.add_subcommand("eval", "Loss and accuracy on data");
  addCommon(*command, eval, Needs::Data);
  command->add_option("--out", eval.out, "Write the outputs as well")
      ->type_name("OUT.npz");
  command = app.add_subcommand("predict", "The model's outputs on data");
  addCommon(*command, predict, Needs::Data);
  command
      ->add_option("--out", predict.out,
                   "Where to write; default: predictions.npz")
      ->type_name("OUT.npz");
  command = app.add_subcommand("bench", "Time train steps on made-up data");
  addCommon(*command, bench, Needs::NoData);
  command->add_option("--warmup", bench.warmup, "Steps before, default 5")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command->add_option("--steps", bench.steps, "Steps timed, default 20")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_flag("--by-node", bench.byNode, "Times of the plan's nodes too");
  command = app.add_subcommand(
      "trace", "Run one step and keep every plan step's operands");
  addCommon(*command, trace, Needs::Data);
  command->add_option("--out", trace.out, "An empty or new folder")
      ->required()
      ->type_name("DIR");
  command->add_option("--program", program, "train (default) or eval")
      ->check(CLI::IsMember({"train", "eval"}));
  command = app.add_subcommand("devices", "The devices of this machine");
  command->add_flag("--json", asJson, "As one JSON line");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!later.empty())
    return finish(runtime::unsupported(
        fmt::format("{} is not available yet", later.front())));
  if (version) {
    run::printVersion();
    return 0;
  }
  if (app.got_subcommand("train")) {
    runtime::Result<int> code = run::train(train);
    return code.ok() ? *code : finish(code.status());
  }
  if (app.got_subcommand("grads"))
    return finish(run::grads(grads));
  if (app.got_subcommand("eval"))
    return finish(run::eval(eval));
  if (app.got_subcommand("predict"))
    return finish(run::predict(predict));
  if (app.got_subcommand("bench"))
    return finish(run::bench(bench));
  if (app.got_subcommand("trace"))
    return finish(run::trace(trace, program));
  if (app.got_subcommand("devices"))
    return finish(run::devices(asJson));
  fmt::print(stderr, "{}", app.help());
  return 2;
}
} // namespace

int main(int argc, char **argv) {
  // The last resort: libraries report failures as values, the standard library
  // may still throw (no memory left).
  try {
    return dispatch(argc, argv);
  } catch (const std::exception &error) {
    return finish(runtime::failed(error.what()));
  }
}
