// SPDX-License-Identifier: Apache-2.0
// Building of the linear plan.
#include "tests/runtime/LinearPlan.h"

#include <optional>
#include <utility>
#include <vector>

namespace halftone::test {

namespace {
enum ArenaIndex { kParameters, kState, kGradients, kConstants, kInputs, kWork };

std::string floatBytes(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * 4};
}

class Builder {
public:
  explicit Builder(const LinearPlanOptions &options) : options(options) {
    for (auto [name, kind] : {std::pair("parameters", proto::PARAMETERS),
                              {"state", proto::STATE},
                              {"gradients", proto::GRADIENTS},
                              {"constants", proto::CONSTANTS},
                              {"inputs", proto::INPUTS},
                              {"activations", proto::ACTIVATIONS}}) {
      proto::Arena *arena = plan.add_arenas();
      arena->set_name(name);
      arena->set_kind(kind);
    }
  }

  proto::Plan build() {
    int64_t n = options.batch, k = options.features;
    uint32_t x = buffer("x", kInputs, {n, k});
    uint32_t skip = buffer("skip", kInputs, {1});
    uint32_t w = buffer("w", kParameters, {k, 1});
    uint32_t idle = buffer("idle", kParameters, {2});
    uint32_t gradient = buffer("grad of w", kGradients, {k, 1},
                               options.halfGradient ? proto::F16 : proto::F32);
    uint32_t mean = constant("mean", std::vector<float>(n, 1.0f / n), {1, n});
    uint32_t one = constant("one", {1}, {1});
    uint32_t down = constant("down", {-1 / options.lossScale}, {1});
    uint32_t scale = state("loss_scale", options.lossScale);
    uint32_t rate = state("learning_rate", options.learningRate);
    uint32_t step = state("step", 0);
    uint32_t foundInf = state("found_inf", 0);

    uint32_t y = buffer("y", kWork, {n, 1});
    uint32_t loss = buffer("loss", kWork, {});
    uint32_t scaled = buffer("scaled mean", kWork, {1, n});
    uint32_t factor = buffer("factor", kWork, {1});
    uint32_t next = buffer("next w", kWork, {k, 1});
    uint32_t nextStep = buffer("next step", kWork, {1});

    for (proto::Program *program :
         {plan.mutable_train(), plan.mutable_eval()}) {
      product(program, "linear", proto::FORWARD, x, w, y, n, 1, k);
      product(program, "mean", proto::LOSS, mean, y, loss, 1, 1, n);
      output(program, "loss", loss);
    }
    output(plan.mutable_eval(), "y", y);
    proto::Program *train = plan.mutable_train();
    product(train, "scale", proto::BACKWARD, scale, mean, scaled, 1, n, 1);
    product(train, "grad of linear", proto::BACKWARD, x, scaled, gradient, k, 1,
            n)
        ->set_transpose_a(true);
    product(train, "rate", proto::OPTIMIZER, rate, down, factor, 1, 1, 1);
    product(train, "update", proto::OPTIMIZER, factor, gradient, next, 1, k, 1,
            w);
    copy(train, "assign w", next, w);
    product(train, "count", proto::OPTIMIZER, one, one, nextStep, 1, 1, 1,
            step);
    copy(train, "assign step", nextStep, step);
    copy(train, "assign found_inf", skip, foundInf);

    parameter("w", w, gradient);
    parameter("idle", idle, std::nullopt);
    for (auto *inputs : {plan.mutable_inputs(), plan.mutable_eval_inputs()}) {
      input(inputs, "x", x);
      if (inputs == plan.mutable_inputs())
        input(inputs, "skip", skip);
    }
    plan.set_producer("test");
    plan.set_model_name("linear");
    plan.set_target("cpu");
    plan.set_precision(options.halfGradient ? "fp16" : "fp32");
    plan.set_batch(n);
    plan.set_loss("output");
    plan.set_weights_file(options.weightsFile);
    plan.set_default_seed(1);
    return std::move(plan);
  }

private:
  uint32_t buffer(const std::string &name, ArenaIndex arena,
                  const std::vector<int64_t> &shape,
                  proto::ElementType type = proto::F32) {
    proto::Buffer *added = plan.add_buffers();
    added->set_name(name);
    added->set_arena(arena);
    added->set_type(type);
    uint64_t bytes = type == proto::F32 ? 4 : 2;
    for (int64_t dim : shape) {
      added->add_shape(dim);
      bytes *= dim;
    }
    proto::Arena *home = plan.mutable_arenas(arena);
    added->set_offset(home->bytes());
    home->set_bytes(home->bytes() + (bytes + 255) / 256 * 256);
    return plan.buffers_size() - 1;
  }

  uint32_t constant(const std::string &name, const std::vector<float> &values,
                    const std::vector<int64_t> &shape) {
    proto::Constant *added = plan.add_constants();
    added->set_data(floatBytes(values));
    uint32_t index = buffer(name, kConstants, shape);
    added->set_buffer(index);
    return index;
  }

  uint32_t state(const std::string &name, float value) {
    proto::State *added = plan.add_states();
    added->set_name(name);
    added->set_init(floatBytes({value}));
    uint32_t index = buffer(name, kState, {1});
    added->set_buffer(index);
    return index;
  }

  void parameter(const std::string &name, uint32_t buffer,
                 std::optional<uint32_t> gradient) {
    proto::Parameter *added = plan.add_parameters();
    added->set_name(name);
    added->set_buffer(buffer);
    if (gradient)
      added->set_gradient(*gradient);
    if (!options.weightsFile.empty())
      return;
    added->mutable_init()->set_kind(proto::Distribution::NORMAL);
    added->mutable_init()->set_deviation(1);
  }

  static void input(google::protobuf::RepeatedPtrField<proto::Input> *inputs,
                    const std::string &name, uint32_t buffer) {
    proto::Input *added = inputs->Add();
    added->set_name(name);
    added->set_buffer(buffer);
  }

  static void output(proto::Program *program, const std::string &name,
                     uint32_t buffer) {
    proto::Output *added = program->add_outputs();
    added->set_name(name);
    added->set_buffer(buffer);
  }

  static proto::MatMul *product(proto::Program *program,
                                const std::string &node, proto::Phase phase,
                                uint32_t a, uint32_t b, uint32_t c, int64_t m,
                                int64_t n, int64_t k,
                                std::optional<uint32_t> bias = {}) {
    proto::Step *step = program->add_steps();
    step->set_node(node);
    step->set_phase(phase);
    step->add_inputs(a);
    step->add_inputs(b);
    if (bias)
      step->add_inputs(*bias);
    step->add_outputs(c);
    proto::MatMul *matmul = step->mutable_matmul();
    matmul->set_batch(1);
    matmul->set_m(m);
    matmul->set_n(n);
    matmul->set_k(k);
    matmul->set_bias(bias.has_value());
    return matmul;
  }

  static void copy(proto::Program *program, const std::string &node,
                   uint32_t from, uint32_t to) {
    proto::Step *step = program->add_steps();
    step->set_node(node);
    step->set_phase(proto::OPTIMIZER);
    step->add_inputs(from);
    step->add_outputs(to);
    step->mutable_copy();
  }

  const LinearPlanOptions &options;
  proto::Plan plan;
};
} // namespace

proto::Plan makeLinearPlan(const LinearPlanOptions &options) {
  return Builder(options).build();
}

} // namespace halftone::test
