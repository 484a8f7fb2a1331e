// SPDX-License-Identifier: Apache-2.0
// A walk backward over the steps with the stretches of memory that are still to
// be written.
#include "runtime/executor/GradientPart.h"

#include <algorithm>

namespace halftone::runtime {

namespace {
/// Bytes [begin, end) of an arena.
struct Stretch {
  uint32_t arena;
  uint64_t begin, end;

  explicit Stretch(const Buffer &buffer)
      : arena(buffer.arena), begin(buffer.offset),
        end(buffer.offset + buffer.bytes) {}

  bool overlaps(const Stretch &other) const {
    return arena == other.arena && begin < other.end && other.begin < end;
  }
  bool isInside(const Stretch &other) const {
    return arena == other.arena && begin >= other.begin && end <= other.end;
  }
};

class NeededMemory {
public:
  void add(const Stretch &stretch) {
    if (std::ranges::none_of(
            needed, [&](const Stretch &old) { return stretch.isInside(old); }))
      needed.push_back(stretch);
  }
  bool isTouchedBy(const Stretch &written) const {
    return std::ranges::any_of(needed, [&](const Stretch &stretch) {
      return stretch.overlaps(written);
    });
  }
  /// What lies before this write is not read any more.
  void remove(const Stretch &written) {
    std::erase_if(needed, [&](const Stretch &stretch) {
      return stretch.isInside(written);
    });
  }

private:
  std::vector<Stretch> needed;
};
} // namespace

std::vector<bool> gradientSteps(const Plan &plan, const Program &program) {
  std::vector<bool> belongs(program.steps.size());
  NeededMemory needed;
  for (const ProgramOutput &output : program.outputs)
    needed.add(Stretch(plan.buffers[output.buffer]));
  for (size_t i = program.steps.size(); i-- > 0;) {
    const Step &step = program.steps[i];
    bool isNeeded = step.phase != Phase::Optimizer;
    bool writesParameters = false;
    for (uint32_t index : step.outputs) {
      const Buffer &buffer = plan.buffers[index];
      isNeeded = isNeeded || needed.isTouchedBy(Stretch(buffer));
      writesParameters = writesParameters || plan.arenas[buffer.arena].kind ==
                                                 ArenaKind::Parameters;
    }
    belongs[i] =
        isNeeded && (step.phase != Phase::Optimizer || !writesParameters);
    if (!belongs[i])
      continue;
    for (uint32_t index : step.outputs)
      needed.remove(Stretch(plan.buffers[index]));
    for (uint32_t index : step.inputs)
      needed.add(Stretch(plan.buffers[index]));
  }
  return belongs;
}

} // namespace halftone::runtime
