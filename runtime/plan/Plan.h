// SPDX-License-Identifier: Apache-2.0
// A training plan in plain structs: what PlanReader makes of a plan file after
// it has checked every index, offset and extent. Mirrors plan.proto; the
// comments there hold here too.
#pragma once

#include "runtime/base/ElementType.h"
#include "runtime/base/Sha256.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halftone::runtime {

enum class ArenaKind : uint8_t {
  Parameters = 1,
  State = 2,
  Gradients = 3,
  Constants = 4,
  Inputs = 5,
  Activations = 6,
  Workspace = 7,
};

/// Whether an arena's content outlives a step and belongs into a checkpoint.
inline bool isPersistent(ArenaKind kind) {
  return kind == ArenaKind::Parameters || kind == ArenaKind::State;
}

struct Arena {
  std::string name;
  ArenaKind kind;
  uint64_t bytes;
};

struct Buffer {
  std::string name;
  uint32_t arena;
  uint64_t offset; ///< In bytes.
  ElementType type;
  Shape shape;

  uint64_t elements; ///< Product of the shape.
  uint64_t bytes;    ///< elements * element size.
};

enum class Phase : uint8_t {
  Forward = 1,
  Loss = 2,
  Backward = 3,
  Optimizer = 4
};

struct Module {
  std::string code; ///< LLVM bitcode (cpu) or PTX text (cuda).
};

struct Kernel {
  std::string name;
  uint32_t module;
  int64_t workItems; ///< CPU.
  int64_t grain;     ///< CPU; at least 1.
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  uint32_t sharedBytes;
  std::string schedule;
};

struct Launch {
  uint32_t kernel;
};

struct MatMul {
  int64_t batch, m, n, k;
  bool transposeA, transposeB;
  int64_t strideA, strideB, strideC;
  bool bias;
  bool tf32;
};

struct Convolution {
  enum class Direction : uint8_t {
    Forward = 0,
    DataGradient = 1,
    WeightGradient = 2
  };
  Direction direction;
  int64_t group;
  std::vector<int64_t> strides;
  std::vector<int64_t>
      pads; ///< Begin of each spatial dimension, then end of each.
  std::vector<int64_t> dilations;
  bool channelsLast;
  bool tf32;
};

struct Copy {};

struct Step {
  std::string node; ///< For reports and errors.
  Phase phase;
  std::vector<uint32_t> inputs; ///< Indices into Plan::buffers.
  std::vector<uint32_t> outputs;
  std::variant<Launch, MatMul, Convolution, Copy> kind;
};

struct ProgramOutput {
  std::string name;
  uint32_t buffer;
};

struct Program {
  std::vector<Step>
      steps; ///< Ordered by phase: forward, loss and backward before optimizer.
  std::vector<ProgramOutput> outputs;
};

enum class ProgramKind : uint8_t { Train = 0, Eval = 1 };

struct Distribution {
  enum class Kind : uint8_t { Constant = 0, Normal = 1 };
  Kind kind = Kind::Constant;
  double mean = 0;
  double deviation = 0;
};

struct Parameter {
  enum class Role : uint8_t {
    Trainable = 0,
    Frozen = 1,
    Statistic = 2,
    Constant = 3
  };
  std::string name;
  Role role;
  uint32_t buffer;
  std::optional<uint32_t> gradient;
  std::optional<Distribution> init; ///< None: the value must be loaded.
  std::vector<std::string> aliases;
};

struct State {
  std::string name;
  uint32_t buffer;
  std::string init; ///< All bytes of the buffer, or one element that fills it.
};

struct Constant {
  uint32_t buffer;
  std::string data; ///< All bytes of the buffer.
};

/// Of elements `first` up to (not including) `end` of a row.
struct Bound {
  uint64_t first, end;
  int64_t minimum, maximum;
};

struct Input {
  enum class Kind : uint8_t { Data = 0, Target = 1, RowWeight = 2 };
  std::string name;
  uint32_t buffer;
  Kind kind;
  int64_t minimum, maximum; ///< Equal: see `bounds`.
  std::optional<int64_t> ignored;
  std::vector<Bound> bounds = {}; ///< In order; elements in none are unchecked.
};

struct Node {
  std::string name, op, color, stored, rule, source;
  std::vector<std::string> path;
  std::string origin, nameSpace;
  std::vector<std::string> inputs, outputs;
  double flops;
};

struct Cast {
  std::string value, from, to;
  std::vector<std::string> consumers;
};

struct Plan {
  std::string producer, modelName, target, architecture, precision;
  int64_t batch;
  std::vector<Arena> arenas;
  std::vector<Buffer> buffers;
  std::vector<Module> modules;
  std::vector<Kernel> kernels;
  Program train, eval;
  std::vector<Parameter> parameters;
  std::vector<State> states;
  std::vector<Constant> constants;
  std::vector<Input> inputs, evalInputs;
  std::string
      weightsFile; ///< Relative to the plan's folder; empty with --init random.
  std::optional<Sha256Digest> weightsSha256;
  uint64_t defaultSeed;
  std::string recipeJson;
  std::vector<Node> nodes;
  std::vector<Cast> casts;
  std::string model; ///< The original ONNX without tensor data, serialized.
  std::string loss, logits;
  int64_t classAxis, ignoreIndex;
  std::map<std::string, std::string> notes;
  uint64_t contentHash;

  std::filesystem::path path; ///< Where it was read from; empty otherwise.

  const Program &program(ProgramKind kind) const {
    return kind == ProgramKind::Train ? train : eval;
  }
  const std::vector<Input> &programInputs(ProgramKind kind) const {
    return kind == ProgramKind::Train ? inputs : evalInputs;
  }
  /// Whether a buffer's leading dimension is the batch.
  bool hasRows(const Buffer &buffer) const {
    return !buffer.shape.empty() && buffer.shape[0] == batch;
  }
  /// Elements of one row; of everything where the buffer has no rows.
  uint64_t rowElements(const Buffer &buffer) const {
    return hasRows(buffer) ? buffer.elements / static_cast<uint64_t>(batch)
                           : buffer.elements;
  }
  /// What the elements of a row of an input may be.
  std::vector<Bound> boundsOf(const Input &input) const {
    if (input.minimum == input.maximum)
      return input.bounds;
    return {
        {0, rowElements(buffers[input.buffer]), input.minimum, input.maximum}};
  }
  const State *findState(std::string_view name) const {
    for (const State &state : states)
      if (state.name == name)
        return &state;
    return nullptr;
  }
};

} // namespace halftone::runtime
