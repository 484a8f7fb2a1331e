// SPDX-License-Identifier: Apache-2.0
// Loading, drawing and saving of parameters.
#include "runtime/session/Weights.h"

#include "runtime/base/Philox.h"
#include "runtime/base/Sha256.h"
#include "runtime/data/Convert.h"
#include "runtime/data/Safetensors.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace halftone::runtime {

namespace {
constexpr size_t kNamesShown = 10;

/// "a, b and 3 more".
std::string listNames(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    text += (i ? ", " : "") + names[i];
  if (names.size() > kNamesShown)
    text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

/// The file with the plan's own weights, checked by its hash.
Result<ArrayMap> readOwnWeights(const Plan &plan) {
  std::filesystem::path path = plan.path.parent_path() / plan.weightsFile;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return invalidInput(fmt::format(
        "the plan's weights file '{}' is missing; put it back beside the plan "
        "or give another with --weights",
        path.string()));
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  if (plan.weightsSha256 && sha256(file->bytes()) != *plan.weightsSha256)
    return invalidInput(fmt::format(
        "'{}' is not the weights file that this plan was compiled with (its "
        "SHA-256 differs); compile again or give it with --weights",
        path.string()));
  Result<SafetensorsFile> parsed =
      parseSafetensors(file->bytes(), std::make_shared<MappedFile>(*file));
  HALFTONE_RETURN_IF_ERROR(withContext(path.string(), parsed.status()));
  return std::move(parsed->arrays);
}

Result<ArrayMap> readGivenWeights(const std::filesystem::path &given) {
  std::filesystem::path path = given;
  std::error_code error;
  if (std::filesystem::is_directory(given, error)) {
    path /= "weights.safetensors";
    if (!std::filesystem::exists(path, error) &&
        std::filesystem::exists(given / "checkpoint/checkpoint.json", error))
      return invalidInput(fmt::format(
          "'{0}' holds no weights yet: its run has not ended; finish it with "
          "train --resume {0}",
          given.string()));
  } else if (path.extension() != ".safetensors")
    return invalidInput(fmt::format("'{}': weights are a .safetensors file or "
                                    "a folder that train wrote",
                                    given.string()));
  Result<SafetensorsFile> file = readSafetensors(path);
  HALFTONE_RETURN_IF_ERROR(file);
  return std::move(file->arrays);
}

/// Collects what does not fit while arrays are matched to parameters.
class WeightMatcher {
public:
  WeightMatcher(const Plan &plan, const ArrayMap &arrays, bool mayDraw)
      : plan(plan), arrays(arrays), mayDraw(mayDraw) {}

  HostArray match(const Parameter &parameter) {
    const HostArray *array = find(parameter);
    const Buffer &buffer = plan.buffers[parameter.buffer];
    if (!array) {
      if (!mayDraw || !parameter.init)
        missing.push_back("'" + parameter.name + "'");
      return {};
    }
    bool isExact = toElementType(array->type) == buffer.type;
    bool isFloatPair =
        buffer.type == ElementType::F32 && !isInteger(array->type);
    if (array->shape != buffer.shape || !(isExact || isFloatPair)) {
      misfits.push_back(fmt::format(
          "'{}' (expected {}, found {})", parameter.name,
          describe(toDataType(buffer.type), buffer.shape), describe(*array)));
      return {};
    }
    converted += !isExact;
    return *array;
  }

  Status result(const std::string &source) const {
    std::string message;
    if (!missing.empty())
      message += "; missing: " + listNames(missing);
    if (!misfits.empty())
      message += "; not fitting: " + listNames(misfits);
    if (message.empty())
      return {};
    return invalidInput(source + " does not hold this plan's weights" +
                        message);
  }

  void tell(const std::string &source, const NoticeSink &notice) const {
    if (converted != 0)
      notice(fmt::format("{} tensors of {} are converted to float32", converted,
                         source));
    std::vector<std::string> foreign;
    for (const auto &[name, array] : arrays)
      if (!used.contains(name))
        foreign.push_back("'" + name + "'");
    if (!foreign.empty())
      notice(fmt::format("{} tensors of {} are not used: {}", foreign.size(),
                         source, listNames(foreign)));
  }

private:
  const HostArray *find(const Parameter &parameter) {
    std::vector<std::string> names{parameter.name};
    names.insert(names.end(), parameter.aliases.begin(),
                 parameter.aliases.end());
    const HostArray *result = nullptr;
    for (const std::string &name : names) {
      auto found = arrays.find(name);
      if (found == arrays.end())
        continue;
      used.insert(name);
      result = result ? result : &found->second;
    }
    return result;
  }

  const Plan &plan;
  const ArrayMap &arrays;
  bool mayDraw;
  std::vector<std::string> missing, misfits;
  std::set<std::string> used;
  size_t converted = 0;
};
} // namespace

Result<WeightSource> openWeights(const Plan &plan,
                                 const std::filesystem::path &given,
                                 uint64_t seed, const NoticeSink &notice) {
  ArrayMap arrays;
  std::string source = "the plan";
  if (!given.empty() || !plan.weightsFile.empty()) {
    Result<ArrayMap> read =
        given.empty() ? readOwnWeights(plan) : readGivenWeights(given);
    HALFTONE_RETURN_IF_ERROR(read);
    arrays = std::move(*read);
    source = given.empty() ? plan.weightsFile : "'" + given.string() + "'";
  }
  WeightMatcher matcher(plan, arrays, given.empty());
  WeightSource weights{{}, seed};
  for (const Parameter &parameter : plan.parameters)
    weights.arrays.push_back(matcher.match(parameter));
  HALFTONE_RETURN_IF_ERROR(matcher.result(source));
  matcher.tell(source, notice);
  return weights;
}

std::vector<float> drawParameter(const Distribution &init, uint64_t seed,
                                 uint64_t index, uint64_t elements) {
  std::vector<float> values(elements, static_cast<float>(init.mean));
  if (init.kind == Distribution::Kind::Constant)
    return values;
  for (uint64_t i = 0; i < elements; i += 4) {
    std::array<double, 4> draws = philoxNormal(seed, index, i / 4);
    for (uint64_t j = i; j < std::min(i + 4, elements); ++j)
      values[j] = static_cast<float>(init.mean + init.deviation * draws[j - i]);
  }
  return values;
}

Status uploadWeights(Executor &executor, const WeightSource &source) {
  const Plan &plan = executor.plan();
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const Parameter &parameter = plan.parameters[i];
    const Buffer &buffer = plan.buffers[parameter.buffer];
    if (buffer.bytes == 0 || !executor.hasBuffer(parameter.buffer))
      continue;
    const HostArray &array = source.arrays[i];
    std::vector<float> values;
    if (array.bytes.empty())
      values = drawParameter(*parameter.init, source.seed, i, buffer.elements);
    else if (toElementType(array.type) != buffer.type)
      values = toFloats(array);
    HALFTONE_RETURN_IF_ERROR(executor.write(
        parameter.buffer, values.empty()
                              ? static_cast<const void *>(array.bytes.data())
                              : values.data()));
  }
  return {};
}

Status saveWeights(Executor &executor, const std::filesystem::path &path) {
  const Plan &plan = executor.plan();
  std::vector<SafetensorsEntry> entries;
  for (const Parameter &parameter : plan.parameters) {
    const Buffer &buffer = plan.buffers[parameter.buffer];
    entries.push_back(
        {parameter.name, toDataType(buffer.type), buffer.shape,
         [&executor, &parameter, &buffer](const ByteSink &sink) -> Status {
           if (buffer.bytes == 0)
             return {};
           Result<std::vector<std::byte>> bytes =
               executor.read(parameter.buffer);
           HALFTONE_RETURN_IF_ERROR(bytes);
           return sink(*bytes);
         }});
  }
  return writeSafetensors(path, entries, {{"format", "pt"}});
}

} // namespace halftone::runtime
