// SPDX-License-Identifier: Apache-2.0
// The tight one: every step of every sample plan, fed the tensors that the run
// itself made, equals the host reference within one rounding of its output.
#include "mlir/Parser/Parser.h"
#include "runtime/session/Trace.h"
#include "tests/e2e/CompiledModel.h"
#include "tools/halftone-check-trace/TraceCheck.h"
#include "llvm/Support/raw_ostream.h"

using namespace halftone::runtime;

namespace halftone::tests {
namespace {

/// Model, precision, layout.
using Parameters = std::tuple<const char *, const char *, const char *>;

/// The programs of a plan as buffers and steps: the compiler's state before it
/// writes the plan.
class StepIr {
public:
  explicit StepIr(tools::CompileFlags flags)
      : context(mlir::MLIRContext::Threading::DISABLED) {
    passes::loadDialects(context);
    flags.compileTo = "memory";
    testing::internal::CaptureStdout();
    int code = tools::runCompile(flags);
    llvm::outs().flush();
    std::string text = testing::internal::GetCapturedStdout();
    EXPECT_EQ(code, 0);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

class StepChecks : public testing::TestWithParam<Parameters> {
protected:
  void check(ProgramKind kind) {
    auto [name, precision, layout] = GetParam();
    Reference reference(name);
    TemporaryFolder folder;
    auto flags = referenceFlags(name, "raw20", precision, "adamw", folder.path);
    flags.layout = layout;
    CompiledModel model(flags);
    StepIr ir(flags);
    ASSERT_TRUE(model && ir.module);
    auto steps = tools::stepsOf(*ir.module,
                                kind == ProgramKind::Train ? "train" : "eval");
    ASSERT_EQ(steps.size(), model.session->plan().program(kind).steps.size());
    size_t checked = 0, wrong = 0;
    Status status = traceProgram(
        *model.session, model.bind(reference.data(model.session->plan()), kind),
        kind, [&](const TracedStep &traced) {
          auto mismatch = tools::checkTracedStep(steps[traced.index],
                                                 traced.inputs, traced.outputs);
          if (!mismatch.ok())
            return runtime::failed("step " + std::to_string(traced.index) +
                                   " (" + traced.step.node +
                                   "): " + mismatch.status().message());
          if (*mismatch) {
            // Later steps read what this one wrote: each is checked on its own.
            ADD_FAILURE() << "step " << traced.index << " (" << traced.step.node
                          << "): " << (*mismatch)->describe();
            ++wrong;
          }
          ++checked;
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(checked, steps.size());
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_P(StepChecks, Train) { check(ProgramKind::Train); }
TEST_P(StepChecks, Eval) { check(ProgramKind::Eval); }

std::string parametersName(const testing::TestParamInfo<Parameters> &info) {
  auto [name, precision, layout] = info.param;
  return std::string(name) + "_" + precision + "_" + layout;
}

constexpr const char *kPrecisions[] = {"fp32", "bf16", "fp16"};

INSTANTIATE_TEST_SUITE_P(
    All, StepChecks,
    testing::Combine(testing::Values("mlp", "cnn", "resnet", "gpt2", "bert",
                                     "bert_masked", "self_loss", "digits_cnn",
                                     "dropout"),
                     testing::ValuesIn(kPrecisions), testing::Values("nchw")),
    parametersName);

// As plans for GPUs have it; the CPU can compute it too.
INSTANTIATE_TEST_SUITE_P(
    ChannelsLast, StepChecks,
    testing::Combine(testing::Values("cnn", "resnet", "digits_cnn"),
                     testing::ValuesIn(kPrecisions), testing::Values("nhwc")),
    parametersName);

} // namespace
} // namespace halftone::tests
