// SPDX-License-Identifier: Apache-2.0
// Scans of buffers for NaN and infinities, by their bits.
#include "runtime/session/NonFinite.h"

#include <cstring>
#include <fmt/format.h>

namespace halftone::runtime {

namespace {
struct Findings {
  bool nan = false, positive = false, negative = false;
};

/// Exponents of all ones are infinities (no mantissa) or NaN.
template <typename Bits>
Findings scan(const std::vector<std::byte> &bytes, Bits exponent, Bits sign) {
  Findings findings;
  for (size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    if ((value & exponent) != exponent)
      continue;
    if (value & static_cast<Bits>(~(exponent | sign)))
      findings.nan = true;
    else
      (value & sign ? findings.negative : findings.positive) = true;
  }
  return findings;
}

Result<Findings> scanBuffer(Executor &executor, uint32_t index) {
  const Buffer &buffer = executor.plan().buffers[index];
  if (!isFloat(buffer.type) || !executor.hasBuffer(index))
    return Findings{};
  Result<std::vector<std::byte>> bytes = executor.read(index);
  HALFTONE_RETURN_IF_ERROR(bytes);
  if (buffer.type == ElementType::F32)
    return scan<uint32_t>(*bytes, 0x7f800000u, 0x80000000u);
  return scan<uint16_t>(
      *bytes, buffer.type == ElementType::F16 ? 0x7c00 : 0x7f80, 0x8000);
}

std::string describeBuffer(const Buffer &buffer) {
  std::string type = describe(toDataType(buffer.type), buffer.shape);
  return buffer.name.empty() ? fmt::format("an unnamed {} value", type)
                             : fmt::format("'{}' ({})", buffer.name, type);
}

using Where = FirstNonFinite::Where;

FirstNonFinite make(Where where, const std::string &what, const char *remedy) {
  return {where, fmt::format("the first value that is not finite is in {}; {}",
                             what, remedy)};
}

/// In what the program starts from.
Result<FirstNonFinite> findInOperands(Executor &executor, ProgramKind program) {
  const Plan &plan = executor.plan();
  for (const Input &input : plan.programInputs(program)) {
    Result<Findings> found = scanBuffer(executor, input.buffer);
    HALFTONE_RETURN_IF_ERROR(found);
    if (found->nan || found->positive)
      return make(Where::Data, fmt::format("the data, input '{}'", input.name),
                  "mend the data");
  }
  for (const Parameter &parameter : plan.parameters) {
    Result<Findings> found = scanBuffer(executor, parameter.buffer);
    HALFTONE_RETURN_IF_ERROR(found);
    if (parameter.role != Parameter::Role::Constant &&
        (found->nan || found->positive))
      return make(Where::Weights,
                  fmt::format("the weights, '{}'", parameter.name),
                  "start from other weights");
  }
  return FirstNonFinite();
}

/// In what the program's steps write.
Result<FirstNonFinite> findInSteps(Executor &executor, ProgramKind program) {
  const Plan &plan = executor.plan();
  const char *remedy =
      program == ProgramKind::Train
          ? "lower the learning rate, or compile with more of the graph in fp32"
          : "compile with more of the graph in fp32, or take other weights";
  FirstNonFinite certain, possible;
  StepObserver observer;
  observer.after = [&](size_t index) -> Status {
    const Step &step = plan.program(program).steps[index];
    for (uint32_t output : step.outputs) {
      if (certain.where != Where::Nowhere)
        return {};
      Result<Findings> found = scanBuffer(executor, output);
      HALFTONE_RETURN_IF_ERROR(found);
      FirstNonFinite here =
          make(Where::Step,
               fmt::format("{}, written by node '{}'",
                           describeBuffer(plan.buffers[output]), step.node),
               remedy);
      if (found->nan || found->positive)
        certain = here;
      else if (found->negative && possible.where == Where::Nowhere)
        possible = here;
    }
    return {};
  };
  HALFTONE_RETURN_IF_ERROR(
      executor.runObserved(program, observer, ProgramPart::Gradients));
  return certain.where != Where::Nowhere ? certain : possible;
}
} // namespace

Result<std::string> firstBadGradient(Executor &executor) {
  for (const Parameter &parameter : executor.plan().parameters) {
    if (!parameter.gradient)
      continue;
    Result<Findings> found = scanBuffer(executor, *parameter.gradient);
    HALFTONE_RETURN_IF_ERROR(found);
    if (found->nan || found->positive || found->negative)
      return parameter.name;
  }
  return std::string();
}

Result<FirstNonFinite> findFirstNonFinite(Executor &executor,
                                          ProgramKind program,
                                          const DataSet &data,
                                          std::span<const int64_t> rows) {
  if (data.lossElements(rows) == 0)
    return FirstNonFinite{Where::Data,
                          fmt::format("no label of the batch counts, all are "
                                      "the ignored {}; mend the data",
                                      executor.plan().ignoreIndex)};
  Result<FirstNonFinite> found = findInOperands(executor, program);
  HALFTONE_RETURN_IF_ERROR(found);
  if (found->where == Where::Nowhere)
    found = findInSteps(executor, program);
  HALFTONE_RETURN_IF_ERROR(found);
  if (found->where == Where::Nowhere)
    found->text = "no such value was found when the step was repeated";
  return found;
}

} // namespace halftone::runtime
