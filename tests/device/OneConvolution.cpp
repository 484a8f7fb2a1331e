// SPDX-License-Identifier: Apache-2.0
#include "tests/device/OneConvolution.h"

namespace halftone::runtime::test {

using Direction = Convolution::Direction;

OneConvolution::OneConvolution(const DeviceInfo &device,
                               const ConvolutionCase &sizes, const Form &form)
    : sizes(sizes), form(form), plan(device),
      first(form.direction == Direction::DataGradient ? 2 : 0),
      result(form.direction == Direction::Forward        ? 2
             : form.direction == Direction::DataGradient ? 0
                                                         : 1) {
  second = 3 - first - result;
  std::vector<Shape> shapes = sizes.shapes(form.channelsLast);
  left = randomTensor(form.in, shapes[first], 1);
  right = randomTensor(form.in, shapes[second], 2);
  uint32_t a = plan.shifted(left, form.shift),
           b = plan.shifted(right, form.shift);
  output = plan.output(form.out, shapes[result]);
  Convolution step{
      form.direction,  sizes.group,       sizes.strides, sizes.padsBegin,
      sizes.dilations, form.channelsLast, false};
  step.pads.insert(step.pads.end(), sizes.padsEnd.begin(), sizes.padsEnd.end());
  plan.step("Conv_0", {a, b}, {output}, step);
}

ExactSums OneConvolution::exact(const TermFilter &filter) const {
  ExactSums sums(plan.plan.buffers[output].elements);
  forEachTerm(
      sizes, form.channelsLast, filter, [&](size_t x, size_t w, size_t y) {
        const size_t at[3] = {x, w, y};
        sums.add(at[result], left.values[at[first]] * right.values[at[second]]);
      });
  return sums;
}

std::ostream &operator<<(std::ostream &stream,
                         const OneConvolution::Form &form) {
  return stream << "direction " << static_cast<int>(form.direction)
                << (form.channelsLast ? " channels last " : " channels first ")
                << elementName(form.in) << " to " << elementName(form.out)
                << " shift " << form.shift;
}

} // namespace halftone::runtime::test
