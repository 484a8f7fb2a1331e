// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/StepCheck.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/reference/Tolerance.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace halftone::reference {
namespace {

using Tensors = SmallVector<HostTensor>;

/// A number in [-1, 1] that depends on nothing but `key`.
double noise(uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  key ^= key >> 31;
  return static_cast<double>(static_cast<int64_t>(key)) * 0x1p-63;
}

/// Whether the op adds many elements into one: its error is relative to the sum
/// of their magnitudes, not to its result.
bool accumulates(Operation *op) {
  if (auto element = dyn_cast<ElementOpInterface>(op))
    return !element.isIndexMap();
  return isa<ReductionOpInterface, ScatterOpInterface>(op);
}

bool computes(Operation *op) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  if (!precision)
    return false;
  PrecisionClass kind = precision.getPrecisionClass();
  return kind != PrecisionClass::Clear && kind != PrecisionClass::Untouched;
}

int64_t largest(ArrayRef<HostTensor> tensors) {
  int64_t n = 1;
  for (const HostTensor &t : tensors)
    n = std::max(n, t.size());
  return n;
}

/// Lets every float32 operation of one evaluation err by a random part of what
/// Tolerance.h allows it.
class Perturbation {
public:
  explicit Perturbation(unsigned sample)
      : key(static_cast<uint64_t>(sample + 1) << 40) {}

  void operator()(Operation *op, ArrayRef<HostTensor> operands,
                  MutableArrayRef<HostTensor> results) {
    if (!computes(op))
      return;
    if (isa<ScalarOpInterface>(op))
      moveOperands(op, operands, results);
    Tensors magnitudes;
    double allowance = kFunctionError;
    if (accumulates(op)) {
      Tensors absolute(operands);
      for (HostTensor &t : absolute)
        for (double &d : t.floats)
          d = std::abs(d);
      if (failed(cast<ReferenceOpInterface>(op).evaluate(absolute, magnitudes)))
        magnitudes.clear();
      int64_t outputs = std::max<int64_t>(1, largest(results));
      // A scatter may send every update to one row.
      int64_t terms =
          isa<ScatterOpInterface>(op)
              ? operands[cast<ScatterOpInterface>(op).getIndicesOperand()]
                    .size()
              : std::max<int64_t>(16, largest(operands) / outputs);
      allowance += sumError(terms);
    }
    for (auto [r, result] : llvm::enumerate(results)) {
      auto type = dyn_cast<FloatType>(result.getElementType());
      if (!type || type.isF64())
        continue;
      for (size_t i = 0; i < result.floats.size(); ++i) {
        double &value = result.floats[i];
        double scale = r < magnitudes.size() ? magnitudes[r].floats[i] : value;
        double error = allowance * kRoundoff * std::abs(scale) * noise(key++);
        value =
            static_cast<float>(std::isfinite(error) ? value + error : value);
      }
    }
  }

private:
  /// The results for operands that err a little; constants do not.
  void moveOperands(Operation *op, ArrayRef<HostTensor> operands,
                    MutableArrayRef<HostTensor> results) {
    Tensors moved(operands), values;
    for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), moved))
      if (!operand.getDefiningOp<graph::ConstantOp>())
        for (double &d : tensor.floats)
          d += kOperandError * kRoundoff * d * noise(key++);
    if (failed(cast<ReferenceOpInterface>(op).evaluate(moved, values)))
      return;
    for (auto [result, value] : llvm::zip_equal(results, values))
      for (auto [r, v] : llvm::zip_equal(result.floats, value.floats))
        if (std::isfinite(v))
          r = v;
  }

  uint64_t key;
};

/// Evaluations of one step: exact, and with float32 errors.
struct Evaluations {
  Tensors exact;
  SmallVector<Tensors> samples;
};

LogicalResult addSamples(exec::StepOpInterface step,
                         ArrayRef<HostTensor> inputs, unsigned count,
                         Evaluations &evaluations) {
  for (unsigned i = 0; i < count; ++i) {
    Interpreter interpreter;
    interpreter.afterOp =
        Perturbation(static_cast<unsigned>(evaluations.samples.size()));
    auto values = runStep(step, inputs, interpreter);
    if (failed(values))
      return failure();
    evaluations.samples.push_back(std::move(*values));
  }
  return success();
}

/// Products and convolutions have one sum an element, so that its bound is
/// exact. One sample lies at that distance.
LogicalResult addProductError(exec::StepOpInterface step,
                              ArrayRef<HostTensor> inputs,
                              Evaluations &evaluations) {
  if (isa<exec::CopyOp>(step.getOperation()))
    return success();
  auto magnitudes = runStepOnMagnitudes(step, inputs);
  if (failed(magnitudes))
    return failure();
  bool tf32 = false;
  if (auto matmul = dyn_cast<exec::MatMulOp>(step.getOperation()))
    tf32 = matmul.getTf32();
  if (auto convolution = dyn_cast<exec::ConvolutionOp>(step.getOperation()))
    tf32 = convolution.getTf32();
  double relative =
      kRoundoff * sumError(termCount(step)) + (tf32 ? kTf32Product : 0);
  Tensors shifted = evaluations.exact;
  for (auto [tensor, magnitude] : llvm::zip_equal(shifted, *magnitudes))
    for (auto [value, sum] : llvm::zip_equal(tensor.floats, magnitude.floats))
      value += relative * sum / kSpreadFactor;
  evaluations.samples.push_back(std::move(shifted));
  return success();
}

/// Whether `got` is what `expected` may be stored as; `allowed` is set to the
/// bound.
bool agrees(double got, double expected, double spread, Type type,
            double &allowed) {
  allowed = 0;
  if (std::isnan(got) || std::isnan(expected))
    return std::isnan(got) && std::isnan(expected);
  if (!isa<FloatType>(type))
    return got == expected;
  double rounded = roundTo(expected, type);
  if (got == expected || got == rounded)
    return true;
  allowed =
      halfUlp(std::isfinite(got) ? std::max(std::abs(got), std::abs(expected))
                                 : expected,
              type) +
      kSpreadFactor * spread + kFlushed;
  // Just below the largest finite value the error may decide between it and
  // infinity.
  if (std::isinf(got) && std::isfinite(expected))
    return roundTo(expected + std::copysign(allowed, got), type) == got;
  if (std::isfinite(got) && std::isinf(rounded) && std::isfinite(expected))
    return std::isfinite(
               roundTo(expected - std::copysign(allowed, expected), type)) &&
           std::signbit(got) == std::signbit(expected);
  return std::abs(got - expected) <= allowed;
}

std::optional<StepMismatch> compare(const Evaluations &evaluations,
                                    ArrayRef<HostTensor> outputs) {
  for (auto [o, output] : llvm::enumerate(outputs)) {
    const HostTensor &exact = evaluations.exact[o];
    for (int64_t i = 0; i < output.size(); ++i) {
      Type type = output.getElementType();
      if (!output.isFloat()) {
        if (output.ints[i] == exact.ints[i])
          continue;
      }
      double got = output.asDouble(i), expected = exact.asDouble(i);
      double spread = 0, allowed = 0, unused = 0;
      bool sampleAgrees = false;
      for (const Tensors &sample : evaluations.samples) {
        double value = sample[o].asDouble(i),
               distance = std::abs(value - expected);
        if (std::isfinite(distance))
          spread = std::max(spread, distance);
        else // float32 overflows where double does not.
          sampleAgrees |= agrees(got, value, 0, type, unused);
        if (!output.isFloat())
          sampleAgrees |= got == value;
      }
      if (sampleAgrees ||
          (output.isFloat() && agrees(got, expected, spread, type, allowed)))
        continue;
      StepMismatch mismatch{"",     static_cast<unsigned>(o), {}, expected, got,
                            allowed};
      int64_t rest = i;
      for (int64_t stride : rowMajorStrides(output.getShape())) {
        mismatch.index.push_back(rest / stride);
        rest %= stride;
      }
      return mismatch;
    }
  }
  return std::nullopt;
}

std::string describeStep(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName();
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    stream << " @" << launch.getKernel();
  stream << " at " << op->getLoc();
  return text;
}

} // namespace

std::string StepMismatch::describe() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << step << ": output " << output << " [";
  llvm::interleaveComma(index, stream);
  stream << "] is " << llvm::format("%.9g", got) << ", expected "
         << llvm::format("%.9g", expected) << " within "
         << llvm::format("%.3g", allowed);
  return text;
}

FailureOr<std::optional<StepMismatch>> checkStep(exec::StepOpInterface step,
                                                 ArrayRef<HostTensor> inputs,
                                                 ArrayRef<HostTensor> outputs) {
  Operation *op = step;
  if (outputs.size() != step.getOutputs().size())
    return op->emitOpError("has ")
           << step.getOutputs().size() << " outputs, not " << outputs.size();
  for (auto [buffer, tensor] : llvm::zip_equal(step.getOutputs(), outputs))
    if (tensorTypeOf(buffer) != tensor.getType())
      return op->emitOpError("wrote ")
             << tensor.getType() << " to " << buffer.getType();
  Evaluations evaluations;
  Interpreter interpreter;
  auto exact = runStep(step, inputs, interpreter);
  if (failed(exact))
    return failure();
  evaluations.exact = std::move(*exact);
  bool launch = isa<exec::LaunchOp>(op);
  if (failed(launch ? addSamples(step, inputs, kSamples, evaluations)
                    : addProductError(step, inputs, evaluations)))
    return failure();
  auto mismatch = compare(evaluations, outputs);
  if (mismatch && launch) {
    if (failed(addSamples(step, inputs, kMoreSamples, evaluations)))
      return failure();
    mismatch = compare(evaluations, outputs);
  }
  if (mismatch)
    mismatch->step = describeStep(op);
  return mismatch;
}

} // namespace halftone::reference
