// SPDX-License-Identifier: Apache-2.0
// Evaluation batch by batch; sums are kept on the host in double.
#include "runtime/session/Evaluator.h"

#include "runtime/data/Convert.h"
#include "runtime/session/InputFeed.h"
#include "runtime/session/NonFinite.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace halftone::runtime {

namespace {
/// The rows of batch `index`, filled up with kNoRow.
std::vector<int64_t> batchRows(const DataSet &data, int64_t index) {
  std::vector<int64_t> rows(static_cast<size_t>(data.batch()), kNoRow);
  int64_t first = index * data.batch();
  for (int64_t i = 0; i < data.batch() && first + i < data.rows(); ++i)
    rows[static_cast<size_t>(i)] = first + i;
  return rows;
}

/// What accuracy is measured with; none where there is no such thing.
struct AccuracyProbe {
  uint32_t logits;
  size_t target; ///< Index of the eval input.
};

std::optional<AccuracyProbe> findProbe(const Plan &plan) {
  std::optional<uint32_t> logits = findOutput(plan.eval, plan.logits);
  if (plan.loss != "cross_entropy" || !logits ||
      !isFloat(plan.buffers[*logits].type))
    return std::nullopt;
  for (size_t i = 0; i < plan.evalInputs.size(); ++i) {
    const Input &input = plan.evalInputs[i];
    const Buffer &labels = plan.buffers[input.buffer];
    Shape shape = plan.buffers[*logits].shape;
    int64_t rank = static_cast<int64_t>(shape.size());
    int64_t axis = plan.classAxis < 0 ? plan.classAxis + rank : plan.classAxis;
    if (input.kind != Input::Kind::Target || isFloat(labels.type) || axis < 0 ||
        axis >= rank)
      continue;
    shape.erase(shape.begin() + axis);
    if (shape == labels.shape)
      return AccuracyProbe{*logits, i};
  }
  return std::nullopt;
}

Result<HostArray> readArray(Executor &executor, uint32_t buffer) {
  Result<std::vector<std::byte>> bytes = executor.read(buffer);
  HALFTONE_RETURN_IF_ERROR(bytes);
  const Buffer &described = executor.plan().buffers[buffer];
  return makeArray(toDataType(described.type), described.shape,
                   std::move(*bytes));
}

/// The labels of these rows, with padding ignored.
HostArray gatherLabels(const Plan &plan, const DataSet &data, size_t input,
                       std::span<const int64_t> rows, int64_t ignored) {
  const Buffer &buffer = plan.buffers[plan.evalInputs[input].buffer];
  std::vector<std::byte> bytes(buffer.bytes);
  data.gather(input, rows, bytes.data());
  size_t size = elementSize(buffer.type);
  uint64_t perRow = buffer.elements / rows.size();
  std::vector<std::byte> mark =
      encodeNumber(buffer.type, static_cast<double>(ignored));
  for (size_t row = 0; row < rows.size(); ++row)
    for (uint64_t i = 0; rows[row] == kNoRow && i < perRow; ++i)
      std::copy(mark.begin(), mark.end(),
                bytes.begin() + (row * perRow + i) * size);
  return makeArray(toDataType(buffer.type), buffer.shape, std::move(bytes));
}

/// Visits the batches of a data set, each on the device and evaluated.
template <typename Visit>
Status forEachBatch(Session &session, const DataSet &data, bool mustMask,
                    const NoticeSink &notice, const Visit &visit) {
  Executor &executor = session.executor();
  if (executor.plan().eval.steps.empty())
    return invalidInput("the plan has no eval program");
  InputFeed feed(executor, ProgramKind::Eval, data);
  int64_t whole = data.rows() / data.batch(), rest = data.rows() % data.batch();
  int64_t batches = whole + (rest != 0);
  if (rest != 0 && mustMask && !data.canMask()) {
    if (whole == 0)
      return invalidInput(fmt::format(
          "the data have {} rows, fewer than one batch of {}, and this plan "
          "cannot mask rows",
          data.rows(), data.batch()));
    notice(fmt::format("the last {} rows do not fill a batch of {} and are "
                       "left out: this plan cannot mask rows",
                       rest, data.batch()));
    batches = whole;
  }
  for (int64_t i = 0; i < batches; ++i) {
    std::vector<int64_t> rows = batchRows(data, i);
    HALFTONE_RETURN_IF_ERROR(feed.feed(rows));
    HALFTONE_RETURN_IF_ERROR(executor.run(ProgramKind::Eval));
    HALFTONE_RETURN_IF_ERROR(visit(rows));
  }
  return {};
}

/// What the evaluated batches sum up to.
class EvalTotals {
public:
  EvalTotals(Executor &executor, const DataSet &data, uint32_t loss)
      : executor(executor), plan(executor.plan()), data(data), loss(loss),
        weight(findOutput(plan.eval, "count")), probe(findProbe(plan)) {}

  /// Adds the batch with these rows, which the device has evaluated.
  Status add(std::span<const int64_t> rows) {
    HALFTONE_RETURN_IF_ERROR(addLoss(rows));
    sums.rows +=
        std::ranges::count_if(rows, [](int64_t row) { return row != kNoRow; });
    return probe ? addLabels(rows) : Status();
  }

  EvalResult result() const {
    EvalResult result = sums;
    result.loss = total > 0 ? sum / total : NAN;
    if (total == 0)
      result.noLoss = fmt::format("no label counts, all are the ignored {}",
                                  plan.ignoreIndex);
    result.count = static_cast<uint64_t>(total);
    if (labels.labels != 0)
      result.accuracy = static_cast<double>(labels.correct) /
                        static_cast<double>(labels.labels);
    return result;
  }

private:
  Result<double> readNumber(uint32_t buffer) {
    Result<std::vector<std::byte>> bytes = executor.read(buffer);
    HALFTONE_RETURN_IF_ERROR(bytes);
    return decodeNumber(plan.buffers[buffer].type, bytes->data());
  }

  Status addLoss(std::span<const int64_t> rows) {
    Result<double> mean = readNumber(loss);
    HALFTONE_RETURN_IF_ERROR(mean);
    Result<double> share =
        weight ? readNumber(*weight)
               : Result<double>(static_cast<double>(data.lossElements(rows)));
    HALFTONE_RETURN_IF_ERROR(share);
    // A batch in which nothing counts has no mean.
    sum += *share > 0 ? *mean * *share : 0;
    total += *share;
    if (*share > 0 && !std::isfinite(*mean) && sums.noLoss.empty()) {
      Result<FirstNonFinite> culprit =
          findFirstNonFinite(executor, ProgramKind::Eval, data, rows);
      HALFTONE_RETURN_IF_ERROR(culprit);
      sums.noLoss = culprit->text;
    }
    return {};
  }

  Status addLabels(std::span<const int64_t> rows) {
    Result<HostArray> logits = readArray(executor, probe->logits);
    HALFTONE_RETURN_IF_ERROR(logits);
    LabelCount count = countCorrect(
        *logits,
        gatherLabels(plan, data, probe->target, rows, plan.ignoreIndex),
        plan.classAxis, plan.ignoreIndex);
    labels.labels += count.labels;
    labels.correct += count.correct;
    return {};
  }

  Executor &executor;
  const Plan &plan;
  const DataSet &data;
  uint32_t loss;
  std::optional<uint32_t> weight; ///< How much of a batch counts.
  std::optional<AccuracyProbe> probe;
  EvalResult sums;
  LabelCount labels;
  double sum = 0, total = 0;
};
} // namespace

LabelCount countCorrect(const HostArray &logits, const HostArray &labels,
                        int64_t classAxis, std::optional<int64_t> ignored) {
  std::vector<float> values = toFloats(logits);
  const Shape &shape = logits.shape;
  size_t axis = static_cast<size_t>(
      classAxis < 0 ? classAxis + static_cast<int64_t>(shape.size())
                    : classAxis);
  uint64_t classes = static_cast<uint64_t>(shape[axis]);
  uint64_t inner = std::accumulate(shape.begin() + axis + 1, shape.end(),
                                   uint64_t(1), std::multiplies<>());
  uint64_t count = *elementCount(labels.shape);
  LabelCount result;
  for (uint64_t i = 0; i < count; ++i) {
    int64_t label = integerAt(labels, i);
    if (label == ignored || label < 0 ||
        static_cast<uint64_t>(label) >= classes)
      continue;
    const float *first = &values[i / inner * classes * inner + i % inner];
    uint64_t best = 0;
    for (uint64_t c = 1; c < classes; ++c)
      if (first[c * inner] > first[best * inner])
        best = c;
    ++result.labels;
    result.correct += best == static_cast<uint64_t>(label);
  }
  return result;
}

Result<EvalResult> evaluate(Session &session, const DataSet &data,
                            const NoticeSink &notice) {
  std::optional<uint32_t> loss = findOutput(session.plan().eval, "loss");
  if (!loss)
    return invalidInput("the plan's eval program has no output 'loss'");
  EvalTotals totals(session.executor(), data, *loss);
  HALFTONE_RETURN_IF_ERROR(forEachBatch(
      session, data, true, notice,
      [&](std::span<const int64_t> rows) { return totals.add(rows); }));
  return totals.result();
}

Result<ArrayMap> predict(Session &session, const DataSet &data,
                         const NoticeSink &notice) {
  Executor &executor = session.executor();
  const Plan &plan = session.plan();
  std::vector<ProgramOutput> outputs;
  for (const ProgramOutput &output : plan.eval.outputs)
    if (output.name != "loss" && output.name != "count")
      outputs.push_back(output);
  if (outputs.empty())
    return invalidInput("the plan's eval program has no outputs");
  std::vector<std::vector<std::byte>> contents(outputs.size());
  auto hasRows = [&](uint32_t buffer) {
    return plan.hasRows(plan.buffers[buffer]);
  };
  auto visit = [&](std::span<const int64_t> rows) -> Status {
    int64_t valid =
        std::ranges::count_if(rows, [](int64_t row) { return row != kNoRow; });
    for (size_t i = 0; i < outputs.size(); ++i) {
      Result<std::vector<std::byte>> bytes = executor.read(outputs[i].buffer);
      HALFTONE_RETURN_IF_ERROR(bytes);
      if (!hasRows(outputs[i].buffer)) {
        contents[i] = std::move(*bytes);
        continue;
      }
      uint64_t kept = bytes->size() / uint64_t(plan.batch) * uint64_t(valid);
      contents[i].insert(contents[i].end(), bytes->begin(),
                         bytes->begin() + static_cast<int64_t>(kept));
    }
    return {};
  };
  HALFTONE_RETURN_IF_ERROR(forEachBatch(session, data, false, notice, visit));
  ArrayMap arrays;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Buffer &buffer = plan.buffers[outputs[i].buffer];
    Shape shape = buffer.shape;
    if (hasRows(outputs[i].buffer))
      shape[0] = data.rows();
    HostArray array = makeArray(toDataType(buffer.type), shape, contents[i]);
    if (buffer.type == ElementType::BF16) {
      std::vector<float> wide = toFloats(array);
      auto bytes = std::as_bytes(std::span(wide));
      array = makeArray(DataType::F32, shape, {bytes.begin(), bytes.end()});
    }
    arrays.insert_or_assign(outputs[i].name, std::move(array));
  }
  return arrays;
}

} // namespace halftone::runtime
