// SPDX-License-Identifier: Apache-2.0
// Plans written and read back; and every kind of damage, each with its message.
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "tests/runtime/LinearPlan.h"
#include "tests/runtime/TemporaryFolder.h"

#include <functional>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

using namespace halftone;
using namespace halftone::runtime;
using halftone::test::makeLinearPlan;
using halftone::test::TemporaryFolder;

namespace {
Result<Plan> parse(const std::string &file) {
  return parsePlan(std::as_bytes(std::span(file)));
}

/// The refusal's message after the change; empty when it was accepted.
std::string refusal(const std::function<void(proto::Plan &)> &change) {
  proto::Plan plan = makeLinearPlan();
  change(plan);
  return parse(serializePlan(plan)).status().message();
}

TEST(PlanReader, GivesBackWhatWasWritten) {
  TemporaryFolder folder;
  ASSERT_TRUE(writePlan(makeLinearPlan(), folder / "a.plan").ok());
  Result<std::shared_ptr<const Plan>> read = readPlan(folder / "a.plan");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Plan &plan = **read;
  EXPECT_EQ(plan.modelName, "linear");
  EXPECT_EQ(plan.batch, 2);
  EXPECT_EQ(plan.path, folder / "a.plan");
  ASSERT_EQ(plan.parameters.size(), 2u);
  EXPECT_EQ(plan.parameters[0].name, "w");
  EXPECT_TRUE(plan.parameters[0].gradient.has_value());
  EXPECT_FALSE(plan.parameters[1].gradient.has_value());
  const Buffer &w = plan.buffers[plan.parameters[0].buffer];
  EXPECT_EQ(w.shape, (Shape{3, 1}));
  EXPECT_EQ(w.elements, 3u);
  EXPECT_EQ(w.bytes, 12u);
  EXPECT_EQ(plan.train.steps.size(), 10u);
  EXPECT_EQ(plan.train.steps[3].node, "grad of linear");
  EXPECT_EQ(plan.train.steps[3].phase, Phase::Backward);
  EXPECT_TRUE(std::get<MatMul>(plan.train.steps[3].kind).transposeA);
  ASSERT_NE(plan.findState("step"), nullptr);
  EXPECT_EQ(plan.findState("absent"), nullptr);
  EXPECT_NE(plan.contentHash, 0u);
}

TEST(PlanWriter, EqualPlansAreEqualFiles) {
  proto::Plan plan = makeLinearPlan();
  for (int i = 0; i < 20; ++i)
    (*plan.mutable_notes())["key" + std::to_string(i)] = "value";
  EXPECT_EQ(serializePlan(plan), serializePlan(plan));
}

TEST(PlanWriter, TheContentHashIsOfWhatTrainingDependsOn) {
  proto::Plan plan = makeLinearPlan();
  uint64_t hash = planContentHash(plan);
  plan.set_producer("another version");
  plan.set_weights_file("elsewhere.safetensors");
  plan.add_nodes()->set_name("node");
  EXPECT_EQ(planContentHash(plan), hash);
  plan.mutable_states(1)->set_init(std::string(4, '\1'));
  EXPECT_NE(planContentHash(plan), hash);
}

TEST(PlanWriter, DoesNotWriteWhatTheReaderWouldRefuse) {
  TemporaryFolder folder;
  proto::Plan plan = makeLinearPlan();
  plan.mutable_buffers(0)->set_arena(99);
  Status status = writePlan(plan, folder / "a.plan");
  EXPECT_EQ(status.message(),
            "the compiler made a plan that cannot be used: the plan is not "
            "valid: buffer 'x' lies in an arena that does not exist");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.plan"));
}

TEST(PlanReader, RefusesWhatIsNoPlan) {
  TemporaryFolder folder;
  EXPECT_EQ(parse("").status().message(),
            "not a plan: too short for a plan's header");
  EXPECT_EQ(parse(std::string(100, 'x')).status().message(),
            "not a plan: it does not start as plan files do; 'halftone "
            "compile' makes plans");
  Result<std::shared_ptr<const Plan>> read =
      readPlan(folder.write("model.pt", std::string(100, 'x')));
  EXPECT_EQ(read.status().code(), StatusCode::InvalidInput);
  EXPECT_TRUE(read.status().message().starts_with(
      (folder / "model.pt").string() + ": not a plan"));
}

TEST(PlanReader, RefusesAnotherVersion) {
  std::string file = serializePlan(makeLinearPlan());
  file[8] = 2;
  EXPECT_EQ(parse(file).status().message(),
            "the plan has format version 2, this program reads version 1; "
            "compile the model again");
}

TEST(PlanReader, RefusesEveryFlippedBitAndEveryTruncation) {
  std::string file = serializePlan(makeLinearPlan());
  for (size_t bit = 48 * 8; bit < file.size() * 8; bit += 37) {
    std::string damaged = file;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    ASSERT_EQ(parse(damaged).status().message(),
              "the plan is damaged: its content does not have the hash in its "
              "header; compile the model again");
  }
  for (size_t length = 0; length < file.size(); length += 11)
    ASSERT_FALSE(parse(file.substr(0, length)).ok());
}

TEST(PlanReader, SurvivesGarbageWithAValidHash) {
  // What a hash cannot catch: a file made to harm, or by a broken compiler.
  std::string body = serializePlan(makeLinearPlan()).substr(48);
  google::protobuf::LogSilencer silencer;
  uint32_t random = 1;
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    proto::Plan plan;
    std::string changed = body;
    for (int i = 0; i < 3; ++i) {
      random = random * 1664525 + 1013904223;
      changed[random % changed.size()] = static_cast<char>(random >> 24);
    }
    if (!plan.ParseFromString(changed))
      continue;
    accepted += parse(serializePlan(plan)).ok();
  }
  EXPECT_LT(accepted, 3000);
}

TEST(PlanReader, ChecksBuffers) {
  EXPECT_EQ(refusal([](auto &p) { p.mutable_buffers(0)->set_arena(6); }),
            "the plan is not valid: buffer 'x' lies in an arena that does not "
            "exist");
  EXPECT_EQ(refusal([](auto &p) {
              p.mutable_buffers(0)->set_type(proto::ELEMENT_UNKNOWN);
            }),
            "the plan is not valid: buffer 'x' has an unknown element type");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_buffers(0)->set_offset(2); }),
            "the plan is not valid: buffer 'x' is not aligned to its element "
            "size");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_buffers(0)->set_offset(508); }),
            "the plan is not valid: buffer 'x' reaches beyond the end of arena "
            "'inputs'");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_buffers(0)->set_offset(~3ull); }),
            "the plan is not valid: buffer 'x' reaches beyond the end of arena "
            "'inputs'");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_buffers(0)->set_shape(0, -2); }),
            "the plan is not valid: buffer 'x' has the impossible shape [-2, "
            "3]");
  EXPECT_EQ(
      refusal([](auto &p) { p.mutable_buffers(0)->set_shape(0, INT64_MAX); }),
      "the plan is not valid: buffer 'x' has the impossible shape "
      "[9223372036854775807, 3]");
  EXPECT_EQ(refusal([](auto &p) {
              p.mutable_arenas(0)->set_kind(proto::ARENA_UNKNOWN);
            }),
            "the plan is not valid: arena 'parameters' has an unknown kind");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_arenas(0)->set_bytes(~0ull); }),
            "the plan is not valid: arena 'parameters' has an impossible size");
}

TEST(PlanReader, ChecksSteps) {
  auto change = [](auto edit) {
    return refusal([&](proto::Plan &plan) {
      edit(*plan.mutable_train()->mutable_steps(0));
    });
  };
  std::string prefix =
      "the plan is not valid: program 'train': the step of node 'linear' ";
  EXPECT_EQ(change([](auto &s) { s.set_inputs(0, 1000); }),
            prefix + "names a buffer that does not exist");
  EXPECT_EQ(change([](auto &s) { s.add_inputs(0); }),
            prefix + "has the wrong number of operands");
  EXPECT_EQ(change([](auto &s) { s.mutable_matmul()->set_m(100); }),
            prefix + "multiplies matrices that reach beyond their buffers");
  EXPECT_EQ(change([](auto &s) { s.mutable_matmul()->set_m(INT64_MAX); }),
            prefix + "multiplies matrices that reach beyond their buffers");
  EXPECT_EQ(change([](auto &s) { s.mutable_matmul()->set_batch(2); }),
            prefix + "writes matrices that overlap");
  EXPECT_EQ(change([](auto &s) { s.mutable_matmul()->set_k(-1); }),
            prefix + "has impossible dimensions");
  EXPECT_EQ(change([](auto &s) { s.mutable_launch()->set_kernel(0); }),
            prefix + "launches a kernel that does not exist");
  EXPECT_EQ(change([](auto &s) { s.mutable_copy(); }),
            prefix + "has the wrong number of operands");
  EXPECT_EQ(change([](auto &s) { s.set_phase(proto::PHASE_UNKNOWN); }),
            prefix + "has an unknown phase");
  EXPECT_EQ(change([](auto &s) { s.clear_kind(); }),
            "the plan is not valid: "
            "the step of node 'linear' has a kind that this version does not "
            "know");
  EXPECT_EQ(refusal([](auto &p) {
              p.mutable_train()->mutable_outputs(0)->set_buffer(1000);
            }),
            "the plan is not valid: program 'train': output 'loss' names a "
            "buffer that does not exist");
}

/// A plan with one convolution: x [1, 2, 5, 5], w [4, 2, 3, 3], y [1, 4, 5, 5].
std::string
convolutionRefusal(const std::function<void(proto::Convolution &)> &change) {
  return refusal([&](proto::Plan &plan) {
    proto::Step *step = plan.mutable_eval()->add_steps();
    step->set_node("conv");
    step->set_phase(proto::FORWARD);
    uint64_t offset = 0;
    for (auto shape :
         {std::vector<int64_t>{1, 2, 5, 5}, {4, 2, 3, 3}, {1, 4, 5, 5}}) {
      proto::Buffer *buffer = plan.add_buffers();
      buffer->set_arena(5);
      buffer->set_type(proto::F32);
      buffer->set_offset(offset);
      offset += 512;
      for (int64_t dim : shape)
        buffer->add_shape(dim);
    }
    plan.mutable_arenas(5)->set_bytes(1 << 16);
    uint32_t first = plan.buffers_size() - 3;
    step->add_inputs(first);
    step->add_inputs(first + 1);
    step->add_outputs(first + 2);
    proto::Convolution *conv = step->mutable_convolution();
    conv->set_group(1);
    for (int i = 0; i < 2; ++i) {
      conv->add_strides(1);
      conv->add_dilations(1);
      conv->add_pads(1);
      conv->add_pads(1);
    }
    change(*conv);
  });
}

TEST(PlanReader, ChecksConvolutions) {
  std::string prefix =
      "the plan is not valid: program 'eval': the step of node 'conv' ";
  std::string shapes = "convolves shapes that do not fit each other: x [1, 2, "
                       "5, 5], w [4, 2, 3, 3], y [1, 4, 5, 5]";
  EXPECT_EQ(convolutionRefusal([](auto &) {}), "");
  EXPECT_EQ(convolutionRefusal([](auto &c) { c.set_group(2); }),
            prefix + shapes);
  EXPECT_EQ(convolutionRefusal([](auto &c) { c.set_pads(0, 5); }),
            prefix + shapes);
  EXPECT_EQ(convolutionRefusal([](auto &c) { c.set_strides(0, 0); }),
            prefix + shapes);
  EXPECT_EQ(convolutionRefusal([](auto &c) { c.set_dilations(1, INT64_MAX); }),
            prefix + shapes);
  EXPECT_EQ(convolutionRefusal([](auto &c) { c.clear_strides(); }),
            prefix + "convolves with operands of different ranks");
}

std::string boundRefusal(uint64_t first, uint64_t end, int64_t minimum,
                         int64_t maximum) {
  return refusal([&](auto &p) {
    proto::Bound &bound = *p.mutable_inputs(0)->add_bounds();
    bound.set_first(first);
    bound.set_end(end);
    bound.set_minimum(minimum);
    bound.set_maximum(maximum);
  });
}

TEST(PlanReader, ChecksValues) {
  EXPECT_EQ(refusal([](auto &p) { p.mutable_parameters(0)->set_buffer(0); }),
            "the plan is not valid: parameter 'w' lies in the wrong arena");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_parameters(0)->set_gradient(0); }),
            "the plan is not valid: the gradient of parameter 'w' does not fit "
            "it");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_parameters(1)->set_name("w"); }),
            "the plan is not valid: two parameters are called 'w'");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_states(0)->set_init("abc"); }),
            "the plan is not valid: state 'loss_scale' starts with 3 bytes, "
            "its buffer has 4");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_states(0)->set_buffer(0); }),
            "the plan is not valid: state 'loss_scale' lies in an arena that "
            "is not kept");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_constants(0)->set_data("abc"); }),
            "the plan is not valid: constant 'mean' has 3 bytes of data, its "
            "buffer has 8");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_inputs(1)->set_name("x"); }),
            "the plan is not valid: two inputs are called 'x'");
  EXPECT_EQ(refusal([](auto &p) { p.mutable_inputs(0)->set_minimum(3); }),
            "the plan is not valid: input 'x' allows no value");
  EXPECT_EQ(boundRefusal(0, 1, 0, 4), "");
  for (const std::string &text :
       {boundRefusal(1, 1, 0, 4), boundRefusal(0, 1, 4, 0),
        boundRefusal(0, UINT64_MAX, 0, 4)})
    EXPECT_EQ(text, "the plan is not valid: input 'x' has bounds that do not "
                    "fit its rows");
  EXPECT_EQ(refusal([](auto &p) { p.set_target("tpu"); }),
            "the plan is not valid: target 'tpu' is unknown");
  EXPECT_EQ(refusal([](auto &p) { p.set_batch(0); }),
            "the plan is not valid: the batch has 0 rows");
  EXPECT_EQ(refusal([](auto &p) { p.set_weights_file("../secret"); }),
            "the plan is not valid: the weights file '../secret' is not a "
            "plain file name");
  EXPECT_EQ(refusal([](auto &p) { p.set_weights_sha256("short"); }),
            "the plan is not valid: the weights' hash is not 32 bytes");
}

TEST(PlanReader, ChecksKernels) {
  auto change = [](auto edit) {
    return refusal([&](proto::Plan &plan) {
      plan.add_modules()->set_code("code");
      proto::Kernel *kernel = plan.add_kernels();
      kernel->set_name("k");
      edit(*kernel);
    });
  };
  EXPECT_EQ(change([](auto &) {}), "");
  EXPECT_EQ(change([](auto &k) { k.set_module(1); }),
            "the plan is not valid: kernel 'k' has no name or names a module "
            "that does not exist");
  EXPECT_EQ(change([](auto &k) { k.set_work_items(-1); }),
            "the plan is not valid: kernel 'k' has a negative number of work "
            "items");
  EXPECT_EQ(change([](auto &k) { k.add_block(2000); }),
            "the plan is not valid: kernel 'k' has an impossible grid or "
            "block");
}
} // namespace
