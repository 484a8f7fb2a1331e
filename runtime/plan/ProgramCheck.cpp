// SPDX-License-Identifier: Apache-2.0
// Checks of kernels and steps: operand counts, and that what a step reads and
// writes by its own description lies inside its buffers.
#include "runtime/plan/PlanCheck.h"

namespace halftone::runtime {

namespace {
constexpr uint64_t kMaxThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 1 << 20;

Status checkKernel(const Plan &plan, const Kernel &kernel) {
  std::string what = "kernel '" + kernel.name + "'";
  if (kernel.name.empty() || kernel.module >= plan.modules.size())
    return invalidInput(what + " has no name or names a module that does not "
                               "exist");
  if (kernel.workItems < 0)
    return invalidInput(what + " has a negative number of work items");
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (kernel.grid[i] == 0 || kernel.block[i] == 0 ||
        kernel.grid[i] > (i == 0 ? 0x7fffffffu : 0xffffu) ||
        kernel.block[i] > kMaxThreads)
      return invalidInput(what + " has an impossible grid or block");
    threads *= kernel.block[i];
  }
  if (threads > kMaxThreads || kernel.sharedBytes > kMaxSharedBytes)
    return invalidInput(what + " has too large a block or too much shared "
                               "memory");
  return {};
}

/// The checks of one step; buffers were checked, indices were not.
class StepCheck {
public:
  StepCheck(const Plan &plan, const Step &step) : plan(plan), step(step) {}

  Status run() const {
    if (step.phase < Phase::Forward || step.phase > Phase::Optimizer)
      return refuse("has an unknown phase");
    for (const std::vector<uint32_t> *list : {&step.inputs, &step.outputs})
      for (uint32_t index : *list)
        if (index >= plan.buffers.size())
          return refuse("names a buffer that does not exist");
    return std::visit([&](const auto &kind) { return check(kind); }, step.kind);
  }

private:
  Status refuse(const std::string &what) const {
    return invalidInput("the step of node '" + step.node + "' " + what);
  }
  const Buffer &input(size_t i) const { return plan.buffers[step.inputs[i]]; }
  const Buffer &output() const { return plan.buffers[step.outputs[0]]; }

  Status checkCounts(size_t inputs, size_t outputs) const {
    if (step.inputs.size() != inputs || step.outputs.size() != outputs)
      return refuse("has the wrong number of operands");
    return {};
  }

  Status check(const Launch &launch) const {
    if (launch.kernel >= plan.kernels.size())
      return refuse("launches a kernel that does not exist");
    return {};
  }

  Status check(const Copy &) const {
    HALFTONE_RETURN_IF_ERROR(checkCounts(1, 1));
    if (input(0).bytes != output().bytes)
      return refuse("copies between buffers of different sizes");
    return {};
  }

  /// Whether `batch` matrices of rows x columns, `stride` elements apart, lie
  /// inside `buffer`.
  static bool fits(const Buffer &buffer, int64_t batch, int64_t stride,
                   int64_t rows, int64_t columns) {
    std::optional<uint64_t> matrix = elementCount({rows, columns});
    std::optional<uint64_t> before = elementCount({batch - 1, stride});
    uint64_t end = 0;
    return isFloat(buffer.type) && matrix && before &&
           !__builtin_add_overflow(*matrix, *before, &end) &&
           end <= buffer.elements;
  }

  Status check(const MatMul &product) const {
    HALFTONE_RETURN_IF_ERROR(checkCounts(product.bias ? 3 : 2, 1));
    int64_t m = product.m, n = product.n, k = product.k;
    if (product.batch < 1 || m < 0 || n < 0 || k < 0)
      return refuse("has impossible dimensions");
    if (!fits(input(0), product.batch, product.strideA, m, k) ||
        !fits(input(1), product.batch, product.strideB, k, n) ||
        !fits(output(), product.batch, product.strideC, m, n))
      return refuse("multiplies matrices that reach beyond their buffers");
    if (product.bias && !fits(input(2), 1, 0, 1, n))
      return refuse("adds a bias that is too short");
    if (product.batch > 1 &&
        product.strideC < static_cast<int64_t>(*elementCount({m, n})))
      return refuse("writes matrices that overlap");
    return {};
  }

  Status check(const Convolution &conv) const {
    if (conv.direction > Convolution::Direction::WeightGradient)
      return refuse("has an unknown direction");
    HALFTONE_RETURN_IF_ERROR(checkCounts(2, 1));
    using Direction = Convolution::Direction;
    const Buffer &y = conv.direction == Direction::Forward        ? output()
                      : conv.direction == Direction::DataGradient ? input(0)
                                                                  : input(1);
    const Buffer &x =
        conv.direction == Direction::DataGradient ? output() : input(0);
    const Buffer &w =
        conv.direction == Direction::WeightGradient ? output() : input(1);
    if (!isFloat(x.type) || !isFloat(w.type) || !isFloat(y.type))
      return refuse("convolves buffers that are not float");
    size_t rank = x.shape.size();
    if (rank < 3 || rank > 5 || w.shape.size() != rank ||
        y.shape.size() != rank || conv.strides.size() != rank - 2 ||
        conv.dilations.size() != rank - 2 || conv.pads.size() != 2 * (rank - 2))
      return refuse("convolves with operands of different ranks");
    if (!shapesAgree(conv, x.shape, w.shape, y.shape))
      return refuse("convolves shapes that do not fit each other: x " +
                    formatShape(x.shape) + ", w " + formatShape(w.shape) +
                    ", y " + formatShape(y.shape));
    return {};
  }

  static bool shapesAgree(const Convolution &conv, const Shape &x,
                          const Shape &w, const Shape &y) {
    size_t spatial = x.size() - 2;
    size_t channel = conv.channelsLast ? spatial + 1 : 1;
    size_t first = conv.channelsLast ? 1 : 2;
    if (conv.group < 1 || x[channel] % conv.group != 0 ||
        w[0] % conv.group != 0 || x[channel] / conv.group != w[channel] ||
        x[0] != y[0] || y[channel] != w[0])
      return false;
    for (size_t i = 0; i < spatial; ++i) {
      int64_t stride = conv.strides[i], dilation = conv.dilations[i];
      int64_t begin = conv.pads[i], end = conv.pads[i + spatial];
      constexpr int64_t kMax = 1 << 30;
      for (int64_t value : {stride, dilation, begin, end, x[first + i],
                            w[first + i], y[first + i]})
        if (value < 0 || value > kMax)
          return false;
      if (stride < 1 || dilation < 1 || w[first + i] < 1)
        return false;
      int64_t room =
          x[first + i] + begin + end - dilation * (w[first + i] - 1) - 1;
      if (room < 0 || room / stride + 1 != y[first + i])
        return false;
    }
    return true;
  }

  const Plan &plan;
  const Step &step;
};

Status checkProgram(const Plan &plan, const Program &program) {
  for (const Step &step : program.steps)
    HALFTONE_RETURN_IF_ERROR(StepCheck(plan, step).run());
  for (const ProgramOutput &output : program.outputs)
    if (output.buffer >= plan.buffers.size())
      return invalidInput("output '" + output.name +
                          "' names a buffer that does not exist");
  return {};
}
} // namespace

Status checkPrograms(const Plan &plan) {
  for (const Kernel &kernel : plan.kernels)
    HALFTONE_RETURN_IF_ERROR(checkKernel(plan, kernel));
  HALFTONE_RETURN_IF_ERROR(
      withContext("program 'train'", checkProgram(plan, plan.train)));
  return withContext("program 'eval'", checkProgram(plan, plan.eval));
}

} // namespace halftone::runtime
