// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/GradientCheck.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace halftone::reference {
namespace {

using Tensors = SmallVector<HostTensor>;
/// A scalar function of one tensor, everything else held fixed.
using Function = llvm::function_ref<FailureOr<double>(const HostTensor &)>;

/// The element of `gradient` that differs most from the differences of `f` at
/// `x`.
FailureOr<GradientError> compare(StringRef name, const HostTensor &x,
                                 const HostTensor &gradient, Function f,
                                 const GradientCheckOptions &options) {
  GradientError worst;
  worst.name = name.str();
  double scale = 1;
  for (double g : gradient.floats)
    scale = std::max(scale, std::abs(g));
  int64_t stride = std::max<int64_t>(1, x.size() / options.maxElements);
  HostTensor moved = x;
  for (int64_t i = 0; i < x.size(); i += stride) {
    double h = options.step * std::max(1.0, std::abs(x.floats[i]));
    moved.floats[i] = x.floats[i] + h;
    auto above = f(moved);
    moved.floats[i] = x.floats[i] - h;
    auto below = f(moved);
    moved.floats[i] = x.floats[i];
    if (failed(above) || failed(below))
      return failure();
    double numeric = (*above - *below) / (2 * h);
    double error = std::abs(gradient.floats[i] - numeric) / scale;
    // Also catches NaN.
    if (!(error <= worst.error))
      worst = {name.str(), i, gradient.floats[i], numeric, error};
  }
  return worst;
}

double weightedSum(ArrayRef<HostTensor> values, ArrayRef<HostTensor> weights) {
  double sum = 0;
  for (auto [value, weight] : llvm::zip_equal(values, weights))
    for (size_t i = 0; i < weight.floats.size(); ++i)
      sum += value.floats[i] * weight.floats[i];
  return sum;
}

/// Gradients that are neither equal nor zero; none for integer results, zero
/// for ignored ones.
Tensors resultGradients(Operation *op, ArrayRef<unsigned> ignored) {
  Tensors gradients;
  uint64_t seed = 88172645463325252;
  for (Type type : op->getResultTypes()) {
    HostTensor gradient(cast<RankedTensorType>(type));
    for (double &g : gradient.floats) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      g = 0.25 + static_cast<double>(seed % 1000) / 1000;
      if (seed & 0x10000)
        g = -g;
    }
    if (llvm::is_contained(ignored, gradients.size()))
      gradient = HostTensor(cast<RankedTensorType>(type));
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

/// `gradient` of a broadcast operand summed down to the operand's shape.
FailureOr<HostTensor> summedTo(Operation *op, const HostTensor &gradient,
                               RankedTensorType type) {
  HostTensor sum(type);
  auto joined = graph::broadcastShapes(gradient.getShape(), type.getShape());
  if (failed(joined) || ArrayRef<int64_t>(*joined) != gradient.getShape() ||
      !gradient.isFloat())
    return op->emitOpError("has a gradient ")
           << gradient.getType() << " for an operand " << type;
  SmallVector<int64_t> index(gradient.getRank(), 0);
  for (double g : gradient.floats) {
    sum.floats[broadcastOffset(index, type.getShape())] += g;
    nextIndex(index, gradient.getShape());
  }
  return sum;
}

std::string inputName(size_t i) { return "x" + std::to_string(i); }
std::string gradName(size_t i) { return "dy" + std::to_string(i); }

/// A program with `op`, its gradient rule, and the operands' gradients as
/// outputs "x0", "x1", ... (none where the rule gives none).
FailureOr<OwningOpRef<graph::ProgramOp>>
buildGradientProgram(Operation *op, ArrayRef<unsigned> ignoredResults) {
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  if (!rule)
    return op->emitOpError("has no gradient rule");
  OpBuilder outer(op->getContext());
  OwningOpRef<graph::ProgramOp> program(
      outer.create<graph::ProgramOp>(op->getLoc(), "gradient"));
  auto b = ImplicitLocOpBuilder::atBlockBegin(op->getLoc(),
                                              &program->getBody().front());
  IRMapping mapping;
  // The same value may be read twice; each operand gets an input of its own.
  Operation *clone = op->clone(mapping);
  b.insert(clone);
  b.setInsertionPoint(clone);
  auto input = [&](const std::string &name, Type type) -> Value {
    return b.create<graph::InputOp>(type, b.getStringAttr(name),
                                    b.getStringAttr("data"));
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    clone->setOperand(i, input(inputName(i), type));
  SmallVector<Value> grads;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    grads.push_back(
        isa<FloatType>(cast<RankedTensorType>(type).getElementType()) &&
                !llvm::is_contained(ignoredResults, i)
            ? input(gradName(i), type)
            : Value());
  b.setInsertionPointAfter(clone);
  SmallVector<Value> built =
      cast<DifferentiableOpInterface>(clone).buildVjp(b, grads);
  if (built.size() != op->getNumOperands())
    return op->emitOpError("gives ") << built.size() << " gradients for "
                                     << op->getNumOperands() << " operands";
  for (auto [i, gradient] : llvm::enumerate(built))
    if (gradient)
      b.create<graph::OutputOp>(inputName(i), gradient);
  if (failed(verify(*program)))
    return failure();
  return program;
}

} // namespace

bool GradientReport::ok() const {
  return llvm::all_of(
      worst, [&](const GradientError &e) { return e.error <= tolerance; });
}

std::string GradientReport::describe() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const GradientError &e : worst)
    if (!(e.error <= tolerance))
      stream << e.name << " [" << e.index << "]: analytic "
             << llvm::format("%.9g", e.analytic) << ", numeric "
             << llvm::format("%.9g", e.numeric) << ", relative error "
             << llvm::format("%.3g", e.error) << "\n";
  return text;
}

FailureOr<GradientReport> checkGradient(graph::ProgramOp forward,
                                        const TensorMap &named,
                                        StringRef output,
                                        const TensorMap &analytic,
                                        const GradientCheckOptions &options) {
  GradientReport report;
  report.tolerance = options.tolerance;
  TensorMap point = named;
  for (const auto &[name, gradient] : analytic) {
    auto found = named.find(name);
    if (found == named.end() || !found->second.isFloat() ||
        found->second.getShape() != gradient.getShape())
      return forward.emitError("the gradient of '")
             << name << "' belongs to no float tensor of its shape";
    auto sumOfOutput = [&](const HostTensor &x) -> FailureOr<double> {
      point[name] = x;
      auto result = Interpreter().run(forward, point);
      if (failed(result))
        return failure();
      auto value = result->outputs.find(output.str());
      if (value == result->outputs.end())
        return forward.emitError("has no output '") << output << "'";
      double sum = 0;
      for (double d : value->second.floats)
        sum += d;
      return sum;
    };
    auto error = compare(name, found->second, gradient, sumOfOutput, options);
    if (failed(error))
      return failure();
    point[name] = found->second;
    report.worst.push_back(*error);
  }
  return report;
}

FailureOr<GradientReport> checkVjp(Operation *op, ArrayRef<HostTensor> operands,
                                   const GradientCheckOptions &options) {
  if (operands.size() != op->getNumOperands())
    return op->emitOpError("is given ") << operands.size() << " tensors for "
                                        << op->getNumOperands() << " operands";
  auto program = buildGradientProgram(op, options.ignoredResults);
  if (failed(program))
    return failure();
  Tensors weights = resultGradients(op, options.ignoredResults);
  TensorMap named;
  for (auto [i, operand] : llvm::enumerate(operands))
    named[inputName(i)] = operand;
  for (auto [i, weight] : llvm::enumerate(weights))
    if (weight.isFloat())
      named[gradName(i)] = weight;
  auto analytic = Interpreter().run(**program, named);
  if (failed(analytic))
    return failure();

  GradientReport report;
  report.tolerance = options.tolerance;
  Tensors point(operands);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand.isFloat() || llvm::is_contained(options.ignoredOperands, i))
      continue;
    auto type = cast<RankedTensorType>(op->getOperand(i).getType());
    HostTensor gradient(type);
    auto built = analytic->outputs.find(inputName(i));
    if (built != analytic->outputs.end()) {
      auto summed = summedTo(op, built->second, type);
      if (failed(summed))
        return failure();
      gradient = std::move(*summed);
    }
    auto sumOfResults = [&, i = i](const HostTensor &x) -> FailureOr<double> {
      point[i] = x;
      auto values = Interpreter().evaluate(op, point);
      if (failed(values))
        return failure();
      return weightedSum(*values, weights);
    };
    auto error = compare("operand " + std::to_string(i), operand, gradient,
                         sumOfResults, options);
    if (failed(error))
      return failure();
    point[i] = operand;
    report.worst.push_back(*error);
  }
  return report;
}

} // namespace halftone::reference
