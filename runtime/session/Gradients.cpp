// SPDX-License-Identifier: Apache-2.0
// Gradients of the first batch, read back and unscaled on the host.
#include "runtime/session/Gradients.h"

#include "runtime/data/Convert.h"
#include "runtime/session/InputFeed.h"
#include "runtime/session/NonFinite.h"

#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace halftone::runtime {

namespace {
/// Below this, gradients that are not finite are no matter of scale.
constexpr double kSmallestScale = 0x1p-24;

HostArray floatArray(Shape shape, const std::vector<float> &values) {
  auto bytes = std::as_bytes(std::span(values));
  return makeArray(DataType::F32, std::move(shape),
                   {bytes.begin(), bytes.end()});
}

/// Runs the gradient part until it is finite; gives the scale it took.
Result<double> runUntilFinite(Session &session, const DataSet &data,
                              std::span<const int64_t> rows,
                              const NoticeSink &notice) {
  Executor &executor = session.executor();
  Result<std::optional<double>> start = session.readState("loss_scale");
  HALFTONE_RETURN_IF_ERROR(start);
  double scale = start->value_or(1);
  while (true) {
    HALFTONE_RETURN_IF_ERROR(
        executor.run(ProgramKind::Train, ProgramPart::Gradients));
    Result<std::string> bad = firstBadGradient(executor);
    HALFTONE_RETURN_IF_ERROR(bad);
    if (bad->empty())
      break;
    if (!*start || scale / 2 < kSmallestScale) {
      Result<FirstNonFinite> culprit =
          findFirstNonFinite(executor, ProgramKind::Train, data, rows);
      HALFTONE_RETURN_IF_ERROR(culprit);
      return Status(StatusCode::NonFinite,
                    fmt::format("the gradient of '{}' is not finite: {}", *bad,
                                culprit->text));
    }
    scale /= 2;
    HALFTONE_RETURN_IF_ERROR(session.writeState("loss_scale", scale));
  }
  if (*start && scale != **start)
    notice(fmt::format("the loss scale was lowered from {} to {} to keep the "
                       "gradients finite",
                       **start, scale));
  return scale;
}

/// In float32 and the parameter's shape; zeros where the loss does not reach
/// it.
Result<HostArray> unscaledGradient(Executor &executor,
                                   const Parameter &parameter, double scale) {
  const std::vector<Buffer> &buffers = executor.plan().buffers;
  const Buffer &buffer = buffers[parameter.buffer];
  std::vector<float> values(buffer.elements, 0.0f);
  if (parameter.gradient) {
    Result<std::vector<std::byte>> bytes = executor.read(*parameter.gradient);
    HALFTONE_RETURN_IF_ERROR(bytes);
    values = toFloats(makeArray(toDataType(buffers[*parameter.gradient].type),
                                {}, std::move(*bytes)));
    for (float &element : values)
      element = static_cast<float>(element / scale);
  }
  return floatArray(buffer.shape, values);
}
} // namespace

Result<Gradients> computeGradients(Session &session, const DataSet &data,
                                   const NoticeSink &notice) {
  Executor &executor = session.executor();
  const Plan &plan = session.plan();
  std::optional<uint32_t> loss = findOutput(plan.train, "loss");
  if (!loss)
    return invalidInput("the plan has no train program with an output 'loss'");
  if (data.rows() < data.batch())
    return invalidInput(fmt::format("the data have {} rows, fewer than one "
                                    "batch of {}",
                                    data.rows(), data.batch()));
  InputFeed feed(executor, ProgramKind::Train, data);
  std::vector<int64_t> rows(static_cast<size_t>(data.batch()));
  std::iota(rows.begin(), rows.end(), 0);
  HALFTONE_RETURN_IF_ERROR(feed.feed(rows));
  Result<double> scale = runUntilFinite(session, data, rows, notice);
  HALFTONE_RETURN_IF_ERROR(scale);

  Gradients result;
  result.scale = *scale;
  Result<std::vector<std::byte>> value = executor.read(*loss);
  HALFTONE_RETURN_IF_ERROR(value);
  auto lossValue =
      static_cast<float>(decodeNumber(plan.buffers[*loss].type, value->data()));
  if (!std::isfinite(lossValue)) {
    Result<FirstNonFinite> culprit =
        findFirstNonFinite(executor, ProgramKind::Train, data, rows);
    HALFTONE_RETURN_IF_ERROR(culprit);
    return Status(StatusCode::NonFinite, fmt::format("the loss is not finite: "
                                                     "{}",
                                                     culprit->text));
  }
  result.arrays["loss"] = floatArray({}, {lossValue});
  for (const Parameter &parameter : plan.parameters) {
    if (parameter.role != Parameter::Role::Trainable)
      continue;
    Result<HostArray> gradient = unscaledGradient(executor, parameter, *scale);
    HALFTONE_RETURN_IF_ERROR(gradient);
    result.arrays["grad." + parameter.name] = std::move(*gradient);
  }
  return result;
}

} // namespace halftone::runtime
