// SPDX-License-Identifier: Apache-2.0
// Scans of buffers for NaN and infinities, by their bits.
#include "runtime/session/NonFinite.h"

#include "runtime/data/HostArray.h"

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
  return fmt::format("'{}' ({})", buffer.name,
                     describe(toDataType(buffer.type), buffer.shape));
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

Result<std::string> describeFirstNonFinite(Executor &executor,
                                           ProgramKind program) {
  const Plan &plan = executor.plan();
  std::string prefix = "the first value that is not finite is ";
  for (const Input &input : plan.programInputs(program)) {
    Result<Findings> found = scanBuffer(executor, input.buffer);
    HALFTONE_RETURN_IF_ERROR(found);
    if (found->nan || found->positive)
      return prefix + "in the data, input '" + input.name + "'";
  }
  for (const Parameter &parameter : plan.parameters) {
    Result<Findings> found = scanBuffer(executor, parameter.buffer);
    HALFTONE_RETURN_IF_ERROR(found);
    if (parameter.role != Parameter::Role::Constant &&
        (found->nan || found->positive))
      return prefix + "in the weights, '" + parameter.name + "'";
  }
  std::string certain, possible;
  StepObserver observer;
  observer.after = [&](size_t index) -> Status {
    const Step &step = plan.program(program).steps[index];
    for (uint32_t output : step.outputs) {
      if (!certain.empty())
        return {};
      Result<Findings> found = scanBuffer(executor, output);
      HALFTONE_RETURN_IF_ERROR(found);
      std::string text =
          fmt::format("in {}, written by node '{}'",
                      describeBuffer(plan.buffers[output]), step.node);
      if (found->nan || found->positive)
        certain = text;
      else if (found->negative && possible.empty())
        possible = text;
    }
    return {};
  };
  HALFTONE_RETURN_IF_ERROR(
      executor.runObserved(program, observer, ProgramPart::Gradients));
  if (certain.empty() && possible.empty())
    return std::string("none was found when the step was repeated");
  return prefix + (certain.empty() ? possible : certain);
}

} // namespace halftone::runtime
