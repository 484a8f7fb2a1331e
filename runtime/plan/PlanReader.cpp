// SPDX-License-Identifier: Apache-2.0
// The one file of the runtime that knows the protobuf form: header, message to
// structs, then the checks.
#include "runtime/plan/PlanReader.h"

#include "runtime/base/File.h"
#include "runtime/plan/PlanCheck.h"
#include "runtime/plan/PlanFormat.h"
#include "runtime/plan/plan.pb.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <google/protobuf/stubs/logging.h>

namespace halftone::runtime {

namespace {
template <typename List> auto toVector(const List &list) {
  return std::vector<typename List::value_type>(list.begin(), list.end());
}

/// Enumerations are open in proto3: what is out of range becomes a value that
/// no enumeration has.
template <typename Enum> Enum toEnum(int value) {
  return static_cast<Enum>(value >= 0 && value < 255 ? value : 255);
}

/// Fills up to three extents; what is missing is 1, what is too much makes the
/// first one 0, which the checks refuse.
std::array<uint32_t, 3>
extents(const google::protobuf::RepeatedField<uint32_t> &field) {
  std::array<uint32_t, 3> result{1, 1, 1};
  std::copy_n(field.begin(), std::min(field.size(), 3), result.begin());
  if (field.size() > 3)
    result[0] = 0;
  return result;
}

Kernel convert(const proto::Kernel &from) {
  Kernel kernel;
  kernel.name = from.name();
  kernel.module = from.module();
  kernel.workItems = from.work_items();
  kernel.grain = std::max<int64_t>(from.grain(), 1);
  kernel.grid = extents(from.grid());
  kernel.block = extents(from.block());
  kernel.sharedBytes = from.shared_bytes();
  kernel.schedule = from.schedule();
  return kernel;
}

MatMul convert(const proto::MatMul &from) {
  return {from.batch(),    from.m(),           from.n(),
          from.k(),        from.transpose_a(), from.transpose_b(),
          from.stride_a(), from.stride_b(),    from.stride_c(),
          from.bias(),     from.tf32()};
}

Convolution convert(const proto::Convolution &from) {
  Convolution convolution;
  convolution.direction = toEnum<Convolution::Direction>(from.direction());
  convolution.group = from.group();
  convolution.strides = toVector(from.strides());
  convolution.pads = toVector(from.pads());
  convolution.dilations = toVector(from.dilations());
  convolution.channelsLast = from.channels_last();
  convolution.tf32 = from.tf32();
  return convolution;
}

Result<Step> convert(const proto::Step &from) {
  Step step;
  step.node = from.node();
  step.phase = toEnum<Phase>(from.phase());
  step.inputs = toVector(from.inputs());
  step.outputs = toVector(from.outputs());
  switch (from.kind_case()) {
  case proto::Step::kLaunch:
    step.kind = Launch{from.launch().kernel()};
    return step;
  case proto::Step::kMatmul:
    step.kind = convert(from.matmul());
    return step;
  case proto::Step::kConvolution:
    step.kind = convert(from.convolution());
    return step;
  case proto::Step::kCopy:
    step.kind = Copy{};
    return step;
  case proto::Step::KIND_NOT_SET:
    break;
  }
  return invalidInput("the step of node '" + from.node() +
                      "' has a kind that this version does not know");
}

Result<Program> convert(const proto::Program &from) {
  Program program;
  program.steps.reserve(from.steps_size());
  for (const proto::Step &step : from.steps()) {
    Result<Step> converted = convert(step);
    HALFTONE_RETURN_IF_ERROR(converted);
    program.steps.push_back(std::move(*converted));
  }
  for (const proto::Output &output : from.outputs())
    program.outputs.push_back({output.name(), output.buffer()});
  return program;
}

Parameter convert(const proto::Parameter &from) {
  Parameter parameter;
  parameter.name = from.name();
  parameter.role = toEnum<Parameter::Role>(from.role());
  parameter.buffer = from.buffer();
  if (from.has_gradient())
    parameter.gradient = from.gradient();
  if (from.has_init())
    parameter.init =
        Distribution{toEnum<Distribution::Kind>(from.init().kind()),
                     from.init().mean(), from.init().deviation()};
  parameter.aliases = toVector(from.aliases());
  return parameter;
}

std::vector<Bound>
convert(const google::protobuf::RepeatedPtrField<proto::Bound> &from) {
  std::vector<Bound> bounds;
  for (const proto::Bound &bound : from)
    bounds.push_back(
        {bound.first(), bound.end(), bound.minimum(), bound.maximum()});
  return bounds;
}

std::vector<Input>
convert(const google::protobuf::RepeatedPtrField<proto::Input> &from) {
  std::vector<Input> inputs;
  for (const proto::Input &input : from)
    inputs.push_back(
        {input.name(), input.buffer(), toEnum<Input::Kind>(input.kind()),
         input.minimum(), input.maximum(),
         input.has_ignored() ? std::optional<int64_t>(input.ignored())
                             : std::nullopt,
         convert(input.bounds())});
  return inputs;
}

Node convert(const proto::Node &from) {
  return {from.name(),
          from.op(),
          from.color(),
          from.stored(),
          from.rule(),
          from.source(),
          toVector(from.path()),
          from.origin(),
          from.name_space(),
          toVector(from.inputs()),
          toVector(from.outputs()),
          from.flops()};
}

void convertScalars(const proto::Plan &from, Plan &plan) {
  plan.producer = from.producer();
  plan.modelName = from.model_name();
  plan.target = from.target();
  plan.architecture = from.architecture();
  plan.precision = from.precision();
  plan.batch = from.batch();
  plan.weightsFile = from.weights_file();
  plan.defaultSeed = from.default_seed();
  plan.recipeJson = from.recipe_json();
  plan.model = from.model();
  plan.loss = from.loss();
  plan.logits = from.logits();
  plan.classAxis = from.class_axis();
  plan.ignoreIndex = from.ignore_index();
  plan.contentHash = from.content_hash();
  plan.notes = {from.notes().begin(), from.notes().end()};
  if (from.weights_sha256().size() == sizeof(Sha256Digest))
    std::memcpy(plan.weightsSha256.emplace().data(),
                from.weights_sha256().data(), sizeof(Sha256Digest));
}

Result<Plan> convert(const proto::Plan &from) {
  Plan plan;
  convertScalars(from, plan);
  for (const proto::Arena &arena : from.arenas())
    plan.arenas.push_back(
        {arena.name(), toEnum<ArenaKind>(arena.kind()), arena.bytes()});
  for (const proto::Buffer &buffer : from.buffers())
    plan.buffers.push_back({buffer.name(), buffer.arena(), buffer.offset(),
                            toEnum<ElementType>(buffer.type()),
                            toVector(buffer.shape()), 0, 0});
  for (const proto::Module &module : from.modules())
    plan.modules.push_back({module.code()});
  for (const proto::Kernel &kernel : from.kernels())
    plan.kernels.push_back(convert(kernel));
  Result<Program> train = convert(from.train()), eval = convert(from.eval());
  HALFTONE_RETURN_IF_ERROR(train);
  HALFTONE_RETURN_IF_ERROR(eval);
  plan.train = std::move(*train);
  plan.eval = std::move(*eval);
  for (const proto::Parameter &parameter : from.parameters())
    plan.parameters.push_back(convert(parameter));
  for (const proto::State &state : from.states())
    plan.states.push_back({state.name(), state.buffer(), state.init()});
  for (const proto::Constant &constant : from.constants())
    plan.constants.push_back({constant.buffer(), constant.data()});
  plan.inputs = convert(from.inputs());
  plan.evalInputs = convert(from.eval_inputs());
  for (const proto::Node &node : from.nodes())
    plan.nodes.push_back(convert(node));
  for (const proto::Cast &cast : from.casts())
    plan.casts.push_back(
        {cast.value(), cast.from(), cast.to(), toVector(cast.consumers())});
  return plan;
}

Status checkHeader(std::span<const std::byte> file) {
  PlanHeader header, expected;
  if (file.size() < sizeof header)
    return invalidInput("not a plan: too short for a plan's header");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != expected.magic)
    return invalidInput("not a plan: it does not start as plan files do; "
                        "'halftone compile' makes plans");
  if (header.version != kPlanVersion)
    return invalidInput(
        "the plan has format version " + std::to_string(header.version) +
        ", this program reads version " + std::to_string(kPlanVersion) +
        "; compile the model again");
  if (header.digest != sha256(file.subspan(sizeof header)))
    return invalidInput("the plan is damaged: its content does not have the "
                        "hash in its header; compile the model again");
  return {};
}
} // namespace

Result<Plan> parsePlan(std::span<const std::byte> file) {
  HALFTONE_RETURN_IF_ERROR(checkHeader(file));
  std::span<const std::byte> body = file.subspan(sizeof(PlanHeader));
  proto::Plan message;
  // Our message says it; the library's own would be noise.
  google::protobuf::LogSilencer silencer;
  if (body.size() > INT_MAX ||
      !message.ParseFromArray(body.data(), static_cast<int>(body.size())))
    return invalidInput("the plan is damaged: its content cannot be parsed");
  if (!message.weights_sha256().empty() &&
      message.weights_sha256().size() != sizeof(Sha256Digest))
    return invalidInput("the plan is not valid: the weights' hash is not 32 "
                        "bytes");
  Result<Plan> plan = convert(message);
  Status status = plan.status();
  if (status.ok())
    status = checkBuffers(*plan);
  if (status.ok())
    status = checkPrograms(*plan);
  if (status.ok())
    status = checkValues(*plan);
  HALFTONE_RETURN_IF_ERROR(withContext("the plan is not valid", status));
  return plan;
}

Result<std::shared_ptr<const Plan>>
readPlan(const std::filesystem::path &path) {
  Result<MappedFile> file = MappedFile::open(path);
  HALFTONE_RETURN_IF_ERROR(file);
  Result<Plan> plan = parsePlan(file->bytes());
  HALFTONE_RETURN_IF_ERROR(withContext(path.string(), plan.status()));
  plan->path = path;
  return std::make_shared<const Plan>(std::move(*plan));
}

} // namespace halftone::runtime
