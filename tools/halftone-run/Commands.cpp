// SPDX-License-Identifier: Apache-2.0
// The commands that run a plan's program once or for measuring: each opens what
// it needs, runs, and prints one JSON line last.
#include "tools/halftone-run/Commands.h"

#include "runtime/data/Npy.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/session/Bench.h"
#include "runtime/session/Evaluator.h"
#include "runtime/session/Gradients.h"
#include "runtime/session/Trace.h"
#include "tools/halftone-run/Output.h"
#include "tools/halftone-run/TraceFolder.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace halftone::run {

using namespace runtime;

namespace {
/// Plan, data and session of one program, opened in the order that finds cheap
/// mistakes first.
struct Opened {
  Notices notices;
  NoticeSink notice = notices.sink();
  std::shared_ptr<const Plan> plan;
  std::optional<DataSet> data;
  std::unique_ptr<Session> session;

  Status open(const CommonOptions &options, ProgramKind program,
              bool needTargets) {
    Result<std::shared_ptr<const Plan>> read = readPlan(options.plan);
    HALFTONE_RETURN_IF_ERROR(read);
    plan = std::move(*read);
    if (plan->program(program).steps.empty())
      return invalidInput(
          fmt::format("{}: has no {} program", options.plan.string(),
                      program == ProgramKind::Train ? "train" : "eval"));
    if (!options.data.empty())
      HALFTONE_RETURN_IF_ERROR(keep(
          DataSet::open(options.data, *plan, program, needTargets, notice)));
    SessionOptions wanted;
    wanted.device = options.device;
    wanted.weights = options.weights;
    wanted.seed = options.seed;
    wanted.programs = {program};
    Result<std::unique_ptr<Session>> opened =
        Session::create(plan, wanted, notice);
    HALFTONE_RETURN_IF_ERROR(opened);
    session = std::move(*opened);
    // Made after the session has checked that there is memory for a batch.
    if (options.data.empty())
      HALFTONE_RETURN_IF_ERROR(keep(
          DataSet::bind(makeBenchData(*plan, session->seed()), "made-up data",
                        *plan, program, needTargets, notice)));
    notices.release();
    return {};
  }

  /// What eval and predict say of results that are easily taken for others.
  void tellOfWeights(const CommonOptions &options) const {
    if (options.weights.empty())
      notice("without --weights these are the plan's initial weights, which "
             "nothing has trained");
  }

private:
  Status keep(Result<DataSet> bound) {
    HALFTONE_RETURN_IF_ERROR(bound);
    data.emplace(std::move(*bound));
    return {};
  }
};

/// Whether a file at `path` may and can be written: it is none of those that
/// are read, and its folder takes files. Asked before long work.
Status checkOutputFile(const std::filesystem::path &path,
                       const CommonOptions &options) {
  std::string context = fmt::format("cannot write '{}': ", path.string());
  std::filesystem::path parent = path.parent_path();
  std::error_code error;
  if (!parent.empty() && !std::filesystem::is_directory(parent, error))
    return invalidInput(fmt::format("{}the folder '{}' does not exist", context,
                                    parent.string()));
  if (std::filesystem::is_directory(path, error))
    return invalidInput(context + "it is a folder");
  for (const std::filesystem::path *input :
       {&options.plan, &options.data, &options.weights})
    if (std::filesystem::equivalent(path, *input, error))
      return invalidInput(context + "it is what is read");
  if (access(parent.empty() ? "." : parent.c_str(), W_OK) != 0)
    return invalidInput(context + std::strerror(errno));
  return {};
}

/// Writes the eval program's outputs.
Status writeOutputs(Opened &opened, const std::filesystem::path &out) {
  Result<ArrayMap> arrays =
      runtime::predict(*opened.session, *opened.data, opened.notice);
  HALFTONE_RETURN_IF_ERROR(arrays);
  return writeNpz(out, *arrays);
}

} // namespace

Status grads(const CommonOptions &options) {
  HALFTONE_RETURN_IF_ERROR(checkOutputFile(options.out, options));
  Opened opened;
  HALFTONE_RETURN_IF_ERROR(opened.open(options, ProgramKind::Train, true));
  Result<Gradients> result =
      computeGradients(*opened.session, *opened.data, opened.notice);
  HALFTONE_RETURN_IF_ERROR(result);
  HALFTONE_RETURN_IF_ERROR(writeNpz(options.out, result->arrays));
  float loss = 0;
  std::memcpy(&loss, result->arrays["loss"].bytes.data(), sizeof loss);
  printJson({{"loss", number(loss)},
             {"scale", result->scale},
             {"gradients", result->arrays.size() - 1},
             {"out", options.out.string()}});
  return {};
}

Status eval(const CommonOptions &options) {
  if (!options.out.empty())
    HALFTONE_RETURN_IF_ERROR(checkOutputFile(options.out, options));
  Opened opened;
  opened.tellOfWeights(options);
  HALFTONE_RETURN_IF_ERROR(opened.open(options, ProgramKind::Eval, true));
  Result<EvalResult> result =
      evaluate(*opened.session, *opened.data, opened.notice);
  HALFTONE_RETURN_IF_ERROR(result);
  if (!result->noLoss.empty())
    return {StatusCode::NonFinite,
            "there is no finite loss: " + result->noLoss};
  if (!options.out.empty())
    HALFTONE_RETURN_IF_ERROR(writeOutputs(opened, options.out));
  Json json = {{"loss", number(result->loss)}};
  if (result->accuracy)
    json["accuracy"] = *result->accuracy;
  json["count"] = result->count;
  json["rows"] = result->rows;
  printJson(json);
  return {};
}

Status predict(const CommonOptions &options) {
  std::filesystem::path out =
      options.out.empty() ? "predictions.npz" : options.out;
  HALFTONE_RETURN_IF_ERROR(checkOutputFile(out, options));
  std::error_code error;
  if (options.out.empty() && !options.overwrite &&
      std::filesystem::exists(out, error))
    return invalidInput(fmt::format("'{}' is there already; name a file with "
                                    "--out, or allow it with --overwrite",
                                    out.string()));
  Opened opened;
  opened.tellOfWeights(options);
  HALFTONE_RETURN_IF_ERROR(opened.open(options, ProgramKind::Eval, false));
  HALFTONE_RETURN_IF_ERROR(writeOutputs(opened, out));
  printJson({{"rows", opened.data->rows()}, {"out", out.string()}});
  return {};
}

Status bench(const BenchOptions &options) {
  Opened opened;
  HALFTONE_RETURN_IF_ERROR(opened.open(options, ProgramKind::Train, true));
  Result<BenchResult> result = runtime::bench(*opened.session, *opened.data,
                                              options.warmup, options.steps);
  HALFTONE_RETURN_IF_ERROR(result);
  if (options.byNode) {
    Result<std::vector<NodeTime>> times =
        benchByNode(*opened.session, *opened.data, options.steps);
    HALFTONE_RETURN_IF_ERROR(times);
    for (const NodeTime &time : *times)
      put(fmt::format("{:10.3f} ms  {:3} steps  {}\n", time.milliseconds,
                      time.steps, time.node));
  }
  const Plan &plan = *opened.plan;
  const DeviceInfo &device = opened.session->device().info();
  printJson({{"model", plan.modelName.empty() ? options.plan.stem().string()
                                              : plan.modelName},
             {"system", "halftone"},
             {"device", device.id},
             {"device_name", device.name},
             {"precision", plan.precision},
             {"batch", plan.batch},
             {"ms_median", result->median()},
             {"ms_mean", result->mean()},
             {"ms_min", result->milliseconds.front()},
             {"samples_per_s",
              static_cast<double>(plan.batch) * 1000 / result->median()},
             {"peak_mib", static_cast<double>(result->peakBytes) / 0x1p20},
             {"skipped", result->skipped}});
  return {};
}

Status trace(const CommonOptions &options, const std::string &program) {
  TraceFolder folder(options.out);
  HALFTONE_RETURN_IF_ERROR(folder.check());
  ProgramKind kind = program == "eval" ? ProgramKind::Eval : ProgramKind::Train;
  Opened opened;
  HALFTONE_RETURN_IF_ERROR(opened.open(options, kind, true));
  HALFTONE_RETURN_IF_ERROR(folder.make());
  HALFTONE_RETURN_IF_ERROR(
      writeTrace(*opened.session, *opened.data, kind, options.out));
  folder.keep();
  printJson({{"program", program},
             {"steps", opened.plan->program(kind).steps.size()},
             {"out", options.out.string()}});
  return {};
}

} // namespace halftone::run
