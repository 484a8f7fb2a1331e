// SPDX-License-Identifier: Apache-2.0
// Opening of sessions, and access to states as numbers.
#include "runtime/session/Session.h"

#include "runtime/base/Float16.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/session/Weights.h"

#include <cstring>

namespace halftone::runtime {

namespace {
template <typename T> double decode(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return static_cast<double>(value);
}

template <typename T> std::vector<std::byte> encode(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
} // namespace

double decodeNumber(ElementType type, const void *element) {
  switch (type) {
  case ElementType::F32:
    return decode<float>(element);
  case ElementType::I64:
    return decode<int64_t>(element);
  case ElementType::I32:
    return decode<int32_t>(element);
  case ElementType::Bool:
  case ElementType::U8:
    return decode<uint8_t>(element);
  case ElementType::F16:
  case ElementType::BF16: {
    uint16_t bits;
    std::memcpy(&bits, element, sizeof bits);
    return type == ElementType::F16 ? float16ToFloat(bits)
                                    : bfloat16ToFloat(bits);
  }
  }
  return 0;
}

std::vector<std::byte> encodeNumber(ElementType type, double value) {
  switch (type) {
  case ElementType::F32:
    return encode(static_cast<float>(value));
  case ElementType::I64:
    return encode(static_cast<int64_t>(value));
  case ElementType::I32:
    return encode(static_cast<int32_t>(value));
  case ElementType::Bool:
  case ElementType::U8:
    return encode(static_cast<uint8_t>(value));
  case ElementType::F16:
    return encode(floatToFloat16(static_cast<float>(value)));
  case ElementType::BF16:
    return encode(floatToBfloat16(static_cast<float>(value)));
  }
  return {};
}

std::optional<uint32_t> findOutput(const Program &program,
                                   std::string_view name) {
  for (const ProgramOutput &output : program.outputs)
    if (output.name == name)
      return output.buffer;
  return std::nullopt;
}

Result<std::unique_ptr<Session>>
Session::open(const std::filesystem::path &path, const SessionOptions &options,
              const NoticeSink &notice) {
  Result<std::shared_ptr<const Plan>> plan = readPlan(path);
  HALFTONE_RETURN_IF_ERROR(plan);
  return create(std::move(*plan), options, notice);
}

Result<std::unique_ptr<Session>>
Session::create(std::shared_ptr<const Plan> plan, const SessionOptions &options,
                const NoticeSink &notice) {
  Result<std::unique_ptr<Device>> device =
      openDevice(options.device.empty() ? plan->target : options.device);
  HALFTONE_RETURN_IF_ERROR(device);
  return create(std::move(*device), std::move(plan), options, notice);
}

Result<std::unique_ptr<Session>>
Session::create(std::unique_ptr<Device> device,
                std::shared_ptr<const Plan> plan, const SessionOptions &options,
                const NoticeSink &notice) {
  auto session = std::make_unique<Session>();
  session->theDevice = std::move(device);
  uint64_t seed = options.seed.value_or(plan->defaultSeed);
  // Weights are found and checked before anything is allocated.
  Result<WeightSource> weights =
      options.loadWeights ? openWeights(*plan, options.weights, seed, notice)
                          : WeightSource{};
  HALFTONE_RETURN_IF_ERROR(weights);
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(*session->theDevice, std::move(plan), options.programs);
  HALFTONE_RETURN_IF_ERROR(executor);
  session->theExecutor = std::move(*executor);
  HALFTONE_RETURN_IF_ERROR(session->setSeed(seed));
  if (options.loadWeights)
    HALFTONE_RETURN_IF_ERROR(uploadWeights(*session->theExecutor, *weights));
  return session;
}

Status Session::setSeed(uint64_t seed) {
  theSeed = seed;
  const State *state = plan().findState("seed");
  if (!state || !theExecutor->hasBuffer(state->buffer))
    return {};
  const Buffer &buffer = plan().buffers[state->buffer];
  if (buffer.type != ElementType::I64 || buffer.elements != 1)
    return writeState("seed", static_cast<double>(seed & 0xffffff));
  return theExecutor->write(state->buffer, &seed);
}

Result<std::optional<double>> Session::readState(std::string_view name) {
  const State *state = plan().findState(name);
  if (!state || !theExecutor->hasBuffer(state->buffer) ||
      plan().buffers[state->buffer].elements == 0)
    return std::optional<double>();
  Result<std::vector<std::byte>> bytes = theExecutor->read(state->buffer);
  HALFTONE_RETURN_IF_ERROR(bytes);
  return std::optional<double>(
      decodeNumber(plan().buffers[state->buffer].type, bytes->data()));
}

Status Session::writeState(std::string_view name, double value) {
  const State *state = plan().findState(name);
  if (!state || !theExecutor->hasBuffer(state->buffer))
    return {};
  const Buffer &buffer = plan().buffers[state->buffer];
  std::vector<std::byte> element = encodeNumber(buffer.type, value);
  HALFTONE_RETURN_IF_ERROR(theDevice->fill(Queue::Compute,
                                           theExecutor->address(state->buffer),
                                           element, buffer.elements));
  return theDevice->synchronize();
}

} // namespace halftone::runtime
