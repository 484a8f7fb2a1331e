// SPDX-License-Identifier: Apache-2.0
// A plan on a device with its weights: what training, evaluation and the other
// commands start from.
#pragma once

#include "runtime/base/Notice.h"
#include "runtime/executor/Executor.h"

#include <filesystem>
#include <optional>

namespace halftone::runtime {

struct SessionOptions {
  std::string device;            ///< As --device; empty: the plan's target.
  std::filesystem::path weights; ///< A .safetensors file or a train folder;
                                 ///< empty: what the plan names.
  std::optional<uint64_t> seed;  ///< Default: the plan's.
  std::vector<ProgramKind> programs{ProgramKind::Train, ProgramKind::Eval};
  /// False: parameters stay zero, because a checkpoint will fill them.
  bool loadWeights = true;
};

class Session {
public:
  static Result<std::unique_ptr<Session>>
  open(const std::filesystem::path &plan, const SessionOptions &options,
       const NoticeSink &notice);
  static Result<std::unique_ptr<Session>>
  create(std::shared_ptr<const Plan> plan, const SessionOptions &options,
         const NoticeSink &notice);
  /// On a device that is open; `options.device` does not count.
  static Result<std::unique_ptr<Session>>
  create(std::unique_ptr<Device> device, std::shared_ptr<const Plan> plan,
         const SessionOptions &options, const NoticeSink &notice);

  const Plan &plan() const { return theExecutor->plan(); }
  Executor &executor() { return *theExecutor; }
  Device &device() { return *theDevice; }
  uint64_t seed() const { return theSeed; }
  /// Sets the seed of everything drawn from now on, the plan's own random
  /// numbers included.
  Status setSeed(uint64_t seed);

  /// The first element of a state as a number; none where the plan has no such
  /// state (or it has no memory here).
  Result<std::optional<double>> readState(std::string_view name);
  /// Fills a state with a number; nothing where there is none.
  Status writeState(std::string_view name, double value);

private:
  std::unique_ptr<Device> theDevice; // Outlives the executor.
  std::unique_ptr<Executor> theExecutor;
  uint64_t theSeed = 0;
};

/// One element of any type as a number, and back (rounded as the type needs).
double decodeNumber(ElementType type, const void *element);
std::vector<std::byte> encodeNumber(ElementType type, double value);

/// The buffer of the output or state called `name`; none where there is none.
std::optional<uint32_t> findOutput(const Program &program,
                                   std::string_view name);

} // namespace halftone::runtime
