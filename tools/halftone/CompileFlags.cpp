// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone/CompileFlags.h"
#include "tools/halftone/VerifyFlags.h"

namespace halftone::tools {
namespace {

void declareLoss(CLI::App &command, CompileFlags &f) {
  command
      .add_option("--loss", f.loss,
                  "cross_entropy | mse | l1 | bce_with_logits | output:NAME")
      ->capture_default_str();
  command.add_option("--logits", f.logits, "model output that the loss reads");
  command.add_option("--class-axis", f.classAxis,
                     "class axis of the logits (default: 1 for rank 4 and "
                     "above, else the last)");
  command.add_option("--ignore-index", f.ignoreIndex,
                     "label that does not count (default: -100)");
  command.add_option("--target-from", f.targetFrom,
                     "model input whose values are the labels");
  command.add_option("--shift", f.shift,
                     "with --target-from: labels are that many places ahead");
}

void declareOptimizer(CLI::App &command, CompileFlags &f) {
  command.add_option("--optimizer", f.optimizer, "sgd | adam | adamw")
      ->capture_default_str();
  command.add_option("--lr", f.lr, "learning rate");
  command.add_option("--momentum", f.momentum, "sgd");
  command.add_flag("--nesterov", f.nesterov, "sgd");
  command.add_option("--weight-decay", f.weightDecay,
                     "L2 (sgd, adam) or decoupled (adamw)");
  command.add_option("--betas", f.betas, "adam, adamw: A,B");
  command.add_option("--eps", f.eps, "adam, adamw");
}

void declareModel(CLI::App &command, CompileFlags &f) {
  command.add_option("--dim", f.dims, "bind a symbolic dimension: NAME=N")
      ->allow_extra_args(false);
  command.add_option("--batch", f.batch, "rows of a batch");
  command.add_option("--init", f.init, "weights | random[:SEED]")
      ->capture_default_str();
  command
      .add_option("--freeze", f.freeze, "do not train parameters that match")
      ->allow_extra_args(false)
      ->type_name("REGEX");
  command
      .add_option("--train", f.train,
                  "train parameters that match, and decide last")
      ->allow_extra_args(false)
      ->type_name("REGEX");
  command.add_option("--batch-norm", f.batchNorm, "train | frozen")
      ->capture_default_str()
      ->check(CLI::IsMember({"train", "frozen"}));
  command.add_option("--dropout", f.dropout, "on | off")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
}

void declareColors(CLI::App &command, CompileFlags &f) {
  command.add_option("--allow", f.allow, "operator that always runs low")
      ->allow_extra_args(false)
      ->type_name("OP");
  command
      .add_option("--infer", f.infer, "operator that follows its neighbours")
      ->allow_extra_args(false)
      ->type_name("OP");
  command
      .add_option("--deny", f.deny,
                  "operator that stays FP32, with what follows it")
      ->allow_extra_args(false)
      ->type_name("OP");
  command
      .add_option("--clear", f.clear, "operator without arithmetic of its own")
      ->allow_extra_args(false)
      ->type_name("OP");
  command
      .add_option("--color", f.colors,
                  "'REGEX=fp16|bf16|fp32': nodes by name or module path")
      ->allow_extra_args(false);
}

void declareLossScale(CLI::App &command, CompileFlags &f) {
  command
      .add_option("--loss-scale", f.lossScale,
                  "auto | off | static:X | dynamic[:INIT]")
      ->capture_default_str();
  command.add_option("--scale-init", f.scaleInit, "first loss scale");
  command.add_option("--scale-growth", f.scaleGrowth,
                     "factor after --scale-interval good steps");
  command.add_option("--scale-backoff", f.scaleBackoff,
                     "factor after an overflow");
  command.add_option("--scale-interval", f.scaleInterval,
                     "good steps before growth");
  command.add_option("--scale-min", f.scaleMin, "floor");
  command.add_option("--scale-max", f.scaleMax, "ceiling");
}

/// What the command line names and this version does not do.
void declareLater(CLI::App &command) {
  for (const char *later : {"--recipe", "--task", "--policy", "--ranges",
                            "--weights", "--scale-hysteresis", "--recompute",
                            "--recompute-at", "--memory-budget"})
    command.add_option_function<std::string>(
        later,
        [later](const std::string &) {
          throw CLI::ValidationError(std::string(later) +
                                     " is not available yet");
        },
        "not available yet");
  command.add_flag_function(
      "--fast",
      [](int64_t) {
        throw CLI::ValidationError("--fast is not available yet");
      },
      "not available yet");
}

} // namespace

void declareCompileFlags(CLI::App &command, CompileFlags &f) {
  command.add_option("model", f.model, "ONNX file")
      ->required()
      ->type_name("MODEL.onnx");
  command.add_option("-o,--out", f.out, "plan to write")->type_name("OUT.plan");
  command.add_option(
      "--target", f.target,
      "cpu | cuda[:sm_NN]; default the GPU that is here, else cpu");
  declareLoss(command, f);
  declareOptimizer(command, f);
  command
      .add_option("--precision", f.precision,
                  "auto | fp32 | tf32 | fp16 | bf16")
      ->capture_default_str();
  declareModel(command, f);
  declareColors(command, f);
  declareLossScale(command, f);
  command.add_flag("--keep-casts", f.keepCasts,
                   "keep the model's own casts between float types");
  command.add_option("--optimize", f.optimize, "none | fuse | full")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "fuse", "full"}));
  command
      .add_option("--layout", f.layout,
                  "axes of convolutions in memory: auto (cuda: nhwc, cpu: "
                  "nchw) | nchw | nhwc")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "nchw", "nhwc"}));
  command.add_option("--compile-to", f.compileTo,
                     "stop after a phase and print its IR: " +
                         passes::phaseNames());
  command
      .add_option("--dump-phases", f.dumpPhases,
                  "write the IR after each phase into a folder")
      ->type_name("DIR");
  for (const char *whole : {"--class-axis", "--ignore-index", "--shift",
                            "--batch", "--scale-interval"})
    command.get_option(whole)->check(wholeNumber());
  declareLater(command);
}

} // namespace halftone::tools
