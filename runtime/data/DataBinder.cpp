// SPDX-License-Identifier: Apache-2.0
// Matching of a file's arrays with a program's inputs: names, types, shapes,
// values. All problems are told at once.
#include "runtime/data/Convert.h"
#include "runtime/data/DataSet.h"

#include <algorithm>
#include <set>

namespace halftone::runtime {

class DataBinder {
public:
  DataBinder(const ArrayMap &arrays, const Plan &plan, ProgramKind program,
             bool needTargets, const NoticeSink &notice)
      : arrays(arrays), plan(plan), inputs(plan.programInputs(program)),
        needTargets(needTargets), notice(notice) {}

  Result<DataSet> run(const std::string &source) {
    data.batchRows = plan.batch;
    for (const Input &input : inputs)
      bindInput(input);
    for (const auto &[name, array] : arrays)
      if (!used.contains(name) && problems.empty())
        notice("array '" + name + "' of " + source +
               " is not an input of this plan and is not used");
    checkRows();
    if (!problems.empty()) {
      std::string message = source + " does not fit the plan:";
      for (const std::string &problem : problems)
        message += (problems.size() > 1 ? "\n  " : " ") + problem;
      return invalidInput(message);
    }
    return std::move(data);
  }

private:
  using Binding = DataSet::Binding;

  void refuse(std::string problem) { problems.push_back(std::move(problem)); }

  /// The array of an input: by name, or the only one for the only data input.
  const HostArray *find(const Input &input) {
    auto named = arrays.find(input.name);
    if (named != arrays.end()) {
      used.insert(named->first);
      return &named->second;
    }
    if (input.kind != Input::Kind::Data ||
        std::ranges::count(inputs, Input::Kind::Data, &Input::kind) != 1)
      return nullptr;
    const HostArray *only = nullptr;
    for (const auto &[name, array] : arrays) {
      if (isTarget(name))
        continue;
      if (only)
        return nullptr;
      only = &array;
      used.insert(name);
    }
    return only;
  }

  bool isTarget(const std::string &name) const {
    return name == "target" || name.starts_with("target.");
  }

  std::string found() const {
    std::string list;
    for (const auto &[name, array] : arrays)
      list +=
          (list.empty() ? "'" : ", '") + name + "' (" + describe(array) + ")";
    return list.empty() ? "no array" : list;
  }

  void bindInput(const Input &input) {
    const Buffer &buffer = plan.buffers[input.buffer];
    Binding binding{input, buffer.type, buffer.shape, {}, false, 0};
    binding.hasRows = plan.hasRows(buffer);
    binding.rowElements = plan.rowElements(buffer);
    bool isTarget = input.kind == Input::Kind::Target;
    if (input.kind == Input::Kind::RowWeight || (isTarget && input.ignored))
      data.maskable = true;
    if (input.kind != Input::Kind::RowWeight) {
      if (const HostArray *array = find(input)) {
        binding.array = *array;
        checkArray(binding);
      } else if (!isTarget || needTargets) {
        refuse("there is no array for " +
               std::string(isTarget ? "" : "input ") + "'" + input.name +
               "': expected " + expected(binding) + ", found " + found());
      }
    }
    data.bindings.push_back(std::move(binding));
  }

  std::string expected(const Binding &binding) const {
    Shape shape = binding.shape;
    std::string text =
        std::string(elementName(binding.type)) + " " + formatShape(shape);
    if (binding.hasRows)
      text.replace(text.find('[') + 1, std::to_string(shape[0]).size(), "N");
    return text;
  }

  void checkArray(Binding &binding) {
    HostArray &array = binding.array;
    std::string what = "array '" + binding.input.name + "'";
    Shape shape = array.shape;
    size_t rank = binding.shape.size();
    if (binding.input.kind == Input::Kind::Target && shape.size() == rank + 1 &&
        rank > 0 && shape.back() == 1)
      shape.pop_back();
    bool fits = shape.size() == rank;
    for (size_t d = binding.hasRows ? 1 : 0; fits && d < rank; ++d)
      fits = shape[d] == binding.shape[d];
    if (!fits || !isConvertible(array.type, binding.type)) {
      refuse(what + ": expected " + expected(binding) + ", found " +
             describe(array));
      return;
    }
    if (shape.size() != array.shape.size())
      notice(what + ": " + formatShape(array.shape) + " is used as " +
             formatShape(shape));
    if (toElementType(array.type) != binding.type)
      notice(what + " is converted from " +
             std::string(dataTypeName(array.type)) + " to " +
             std::string(elementName(binding.type)));
    array.shape = shape;
    checkValues(binding, what);
  }

  void checkValues(const Binding &binding, const std::string &what) {
    const HostArray &array = binding.array;
    if (!isInteger(array.type) || isFloat(binding.type))
      return;
    std::vector<Bound> bounds = plan.boundsOf(binding.input);
    if (array.type == DataType::I64 && binding.type == ElementType::I32)
      bounds.push_back({0, binding.rowElements, INT32_MIN, INT32_MAX});
    uint64_t count = *elementCount(array.shape);
    for (uint64_t row = 0; row < count; row += binding.rowElements)
      for (const Bound &bound : bounds)
        for (uint64_t i = bound.first; i < bound.end; ++i) {
          int64_t value = integerAt(array, row + i);
          if ((value < bound.minimum || value > bound.maximum) &&
              value != binding.input.ignored)
            return refuseValue(binding, what, row + i, bound);
        }
  }

  void refuseValue(const Binding &binding, const std::string &what,
                   uint64_t index, const Bound &bound) {
    std::string place;
    if (binding.hasRows)
      place = " in row " + std::to_string(index / binding.rowElements);
    // Elsewhere in the row the same value may be right.
    if (bound.end - bound.first != binding.rowElements)
      place += std::string(place.empty() ? " as" : ",") + " element " +
               std::to_string(index % binding.rowElements);
    std::string allowed =
        std::to_string(bound.minimum) + " to " + std::to_string(bound.maximum);
    if (binding.input.ignored)
      allowed += " or " + std::to_string(*binding.input.ignored) + " (ignored)";
    refuse(what + " has the value " +
           std::to_string(integerAt(binding.array, index)) + place +
           "; allowed are " + allowed);
  }

  void checkRows() {
    std::string first;
    for (const Binding &binding : data.bindings) {
      if (!binding.hasRows || binding.array.shape.empty())
        continue;
      int64_t rows = binding.array.shape[0];
      if (first.empty()) {
        first = binding.input.name;
        data.rowCount = rows;
        if (rows == 0)
          refuse("array '" + first + "' has no rows");
      } else if (rows != data.rowCount) {
        refuse("array '" + binding.input.name + "' has " +
               std::to_string(rows) + " rows, '" + first + "' has " +
               std::to_string(data.rowCount));
      }
    }
    if (first.empty())
      data.rowCount = plan.batch;
  }

  const ArrayMap &arrays;
  const Plan &plan;
  const std::vector<Input> &inputs;
  bool needTargets;
  const NoticeSink &notice;
  DataSet data;
  std::set<std::string> used;
  std::vector<std::string> problems;
};

Result<DataSet> DataSet::bind(const ArrayMap &arrays, const std::string &source,
                              const Plan &plan, ProgramKind program,
                              bool needTargets, const NoticeSink &notice) {
  return DataBinder(arrays, plan, program, needTargets, notice).run(source);
}

} // namespace halftone::runtime
