// SPDX-License-Identifier: Apache-2.0
// halftone compile: import, the pipeline, and the two files that it leaves.
// Nothing is written before everything has succeeded.
#include "tools/halftone/CompileCommand.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/plan/PlanWriter.h"
#include "tools/halftone/Output.h"
#include "tools/halftone/VerifyFlags.h"
#include "tools/halftone/WeightsFile.h"
#include <fmt/format.h>

using namespace mlir;

namespace halftone::tools {
namespace {

/// Prints diagnostics as "error: node 'NAME': message", each once.
class DiagnosticPrinter {
public:
  explicit DiagnosticPrinter(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          std::string text = diagnostic.str();
          if (auto name = dyn_cast<NameLoc>(diagnostic.getLocation()))
            text = fmt::format("node '{}': {}", name.getName().str(), text);
          const char *severity =
              diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error"
              : diagnostic.getSeverity() == DiagnosticSeverity::Warning
                  ? "warning"
                  : "notice";
          if (llvm::find(said, text) == said.end())
            say(severity, text);
          said.push_back(std::move(text));
          return success();
        }) {}

private:
  std::vector<std::string> said;
  ScopedDiagnosticHandler handler;
};

const char *severityName(onnx_frontend::Severity severity) {
  switch (severity) {
  case onnx_frontend::Severity::Error:
    return "error";
  case onnx_frontend::Severity::Warning:
    return "warning";
  case onnx_frontend::Severity::Notice:
    return "notice";
  }
  return "";
}

std::vector<passes::ParameterInfo>
describe(const onnx_frontend::WeightStore &weights, bool random) {
  std::vector<passes::ParameterInfo> list;
  for (const onnx_frontend::Weight &weight : weights.all()) {
    passes::ParameterInfo info{weight.name, weight.aliases, std::nullopt};
    if (random && weight.role != onnx_frontend::WeightRole::Constant) {
      info.init.emplace();
      info.init->set_kind(weight.init.deviation == 0
                              ? proto::Distribution::CONSTANT
                              : proto::Distribution::NORMAL);
      info.init->set_mean(weight.init.mean);
      info.init->set_deviation(weight.init.deviation);
    }
    list.push_back(std::move(info));
  }
  return list;
}

/// What the loss reads, with every default as the plan has it.
std::string describeLoss(const CompileRequest &request,
                         const proto::Plan &plan) {
  const passes::LossOptions &loss = request.compile.loss;
  if (loss.kind == passes::LossKind::Output)
    return fmt::format("the model's output '{}'", loss.output);
  std::string text = fmt::format("{} of '{}'", plan.loss(), plan.logits());
  if (loss.kind != passes::LossKind::CrossEntropy)
    return text + ", labels 'target'";
  return text + fmt::format(", class axis {}, ignore index {}, labels {}",
                            plan.class_axis(), plan.ignore_index(),
                            loss.targetFrom.empty()
                                ? "'target'"
                                : fmt::format("'{}' shifted by {}",
                                              loss.targetFrom, loss.shift));
}

std::string summary(const CompileFlags &flags, const CompileRequest &request,
                    const passes::CompileResult &result,
                    const std::filesystem::path &weights) {
  const proto::Plan &plan = result.plan;
  int64_t trained = 0, count = 0;
  for (const proto::Parameter &parameter : plan.parameters())
    if (parameter.role() == proto::Parameter::TRAINABLE) {
      int64_t elements = 1;
      for (int64_t extent :
           plan.buffers(static_cast<int>(parameter.buffer())).shape())
        elements *= extent;
      trained += elements;
      ++count;
    }
  std::string text =
      fmt::format("model      {}, batch {}\n", flags.model, plan.batch());
  text +=
      fmt::format("trainable  {} parameters, {} elements\n", count, trained);
  text += fmt::format(
      "target     {}{}\n", request.targetName,
      request.architecture.empty() ? "" : ", " + request.architecture);
  text += fmt::format("loss       {}\n", describeLoss(request, plan));
  text += fmt::format("recipe     {}\n", request.recipeJson);
  text += fmt::format("precision  {}: {:.1f} % of the products' FLOPs in the "
                      "low type, {} casts\n",
                      request.precisionName, 100 * result.precision.lowShare(),
                      result.precision.casts);
  text += fmt::format("steps      train {}, eval {}; {} kernels\n",
                      plan.train().steps_size(), plan.eval().steps_size(),
                      plan.kernels_size());
  text += fmt::format("plan       {}\n", flags.out);
  if (!weights.empty())
    text += fmt::format("weights    {}\n", weights.string());
  return text;
}

int fail(const runtime::Status &status) {
  say("error", status.message());
  return status.code() == runtime::StatusCode::InvalidInput ? 2 : 1;
}

/// OUT.weights.safetensors beside OUT.plan.
std::filesystem::path weightsPath(std::filesystem::path plan) {
  if (plan.extension() == ".plan")
    plan.replace_extension();
  plan += ".weights.safetensors";
  return plan;
}

/// Both files or neither: an old plan keeps its weights where the new one
/// fails.
runtime::Status writeFiles(const onnx_frontend::WeightStore &weights,
                           const std::filesystem::path &out,
                           proto::Plan &plan) {
  std::error_code error;
  if (out.has_parent_path())
    std::filesystem::create_directories(out.parent_path(), error);
  std::filesystem::path target = weightsPath(out), staged = target;
  staged += ".new";
  auto status = writeWeights(weights, staged, plan);
  if (status.ok() && !plan.weights_file().empty())
    plan.set_weights_file(target.filename().string());
  if (status.ok())
    status = runtime::writePlan(plan, out);
  if (status.ok() && !plan.weights_file().empty()) {
    std::filesystem::rename(staged, target, error);
    if (error)
      status = runtime::failed("cannot write '" + target.string() +
                               "': " + error.message());
  }
  if (!status.ok())
    std::filesystem::remove(staged, error);
  return status;
}

/// What the plan tells about itself: who wrote it, from what, and as asked.
void recordRequest(const CompileFlags &flags, const CompileRequest &request,
                   proto::Plan &plan) {
  plan.set_producer("halftone " HALFTONE_VERSION);
  plan.set_model_name(std::filesystem::path(flags.model).stem().string());
  plan.set_target(request.targetName);
  plan.set_architecture(request.architecture);
  plan.set_precision(request.precisionName);
  plan.set_default_seed(request.seed);
  plan.set_recipe_json(request.recipeJson);
}

/// Why `out` cannot be the plan's place; empty if it can.
std::string refuseOutput(const std::filesystem::path &out,
                         const std::filesystem::path &model) {
  std::error_code error;
  if (std::filesystem::equivalent(out, model, error))
    return "-o " + out.string() + " is the model itself: name another file";
  if (std::filesystem::exists(out, error) &&
      !std::filesystem::is_regular_file(out, error))
    return "-o " + out.string() + " exists and is no file: name another one";
  return "";
}

} // namespace

int runCompile(const CompileFlags &flags) {
  auto request = resolve(flags);
  if (!request) {
    say("error", llvm::toString(request.takeError()));
    return 2;
  }
  if (std::string why = refuseOutput(flags.out, flags.model);
      !flags.out.empty() && !why.empty()) {
    say("error", why);
    return 2;
  }
  for (const std::string &idle : idleFlags(flags, *request))
    say("notice", idle);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  passes::loadDialects(context);
  DiagnosticPrinter printer(context);

  onnx_frontend::ImportResult import =
      onnx_frontend::importModel(context, flags.model, request->import);
  for (const onnx_frontend::Diagnostic &diagnostic : import.diagnostics)
    say(severityName(diagnostic.severity), diagnostic.message);
  if (!import)
    return 2;

  passes::PhaseObserver observer(request->compileTo, flags.dumpPhases);
  auto parameters = describe(import.weights, request->randomInit);
  auto result =
      passes::compile(*import.module, request->compile, parameters, observer);
  if (failed(result))
    return observer.writeFailed() ? 1 : 2;
  for (const std::string &notice : result->notices)
    say("notice", notice);
  for (const std::string &notice : result->precision.notices)
    say("notice", notice);
  if (!result->complete) {
    std::string text;
    llvm::raw_string_ostream(text) << **import.module;
    return print(text);
  }

  proto::Plan &plan = result->plan;
  std::filesystem::path out = flags.out, weights;
  recordRequest(flags, *request, plan);
  plan.set_model(import.strippedModel);
  if (auto status = writeFiles(import.weights, out, plan); !status.ok())
    return fail(status);
  if (!plan.weights_file().empty())
    weights = weightsPath(out);
  return print(summary(flags, *request, *result, weights));
}

} // namespace halftone::tools
