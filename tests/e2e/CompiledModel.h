// SPDX-License-Identifier: Apache-2.0
// A sample model on its way through the whole product: compiled in process, run
// by a session, compared with PyTorch's reference.
#pragma once
#include "runtime/session/Gradients.h"
#include "runtime/session/Trainer.h"
#include "tools/halftone/CompileCommand.h"
#include <gtest/gtest.h>
#include <map>

namespace halftone::tests {

/// A folder of its own that goes away with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::filesystem::path path;
};

/// testdata/models/NAME.npz; testdata/models/README.md says what is in it.
class Reference {
public:
  explicit Reference(const std::string &model);
  /// As doubles; empty if the array is not there.
  std::vector<double> get(const std::string &name) const;
  bool has(const std::string &name) const { return arrays.count(name) != 0; }
  /// The model's inputs and `target`, under the names that the plan has.
  runtime::ArrayMap data(const runtime::Plan &plan) const;
  /// Rows of the batch.
  int64_t rows() const { return arrays.at("in.0").shape[0]; }

private:
  runtime::ArrayMap arrays;
};

/// The flags of `halftone compile MODEL` with a plan in `folder`; the
/// optimizers are those of the reference ("sgd" or "adamw").
tools::CompileFlags referenceFlags(const std::string &model,
                                   const std::string &variant,
                                   const std::string &precision,
                                   const std::string &optimizer,
                                   const std::filesystem::path &folder);

/// A compiled plan, opened on the CPU with its weights.
class CompiledModel {
public:
  /// Failures are test failures; then `session` is null.
  explicit CompiledModel(const tools::CompileFlags &flags);
  explicit operator bool() const { return session != nullptr; }

  runtime::DataSet
  bind(const runtime::ArrayMap &data,
       runtime::ProgramKind program = runtime::ProgramKind::Train);
  /// The reports of `steps` training steps over one batch.
  std::vector<runtime::StepReport> train(const runtime::DataSet &data,
                                         int64_t steps);
  /// A parameter's present values.
  std::vector<double> parameter(const runtime::Parameter &parameter);
  /// Every byte that outlives a step, by buffer name.
  std::map<std::string, std::vector<std::byte>>
  persistent(const std::vector<std::string> &except = {});

  std::unique_ptr<runtime::Session> session;
};

/// Elements of an array as doubles.
std::vector<double> toDoubles(const runtime::HostArray &array);

} // namespace halftone::tests
