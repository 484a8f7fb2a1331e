// SPDX-License-Identifier: Apache-2.0
#include "passes/autodiff/BuildOptimizerStep.h"
#include "compiler/graph/Constants.h"
#include "compiler/graph/GraphOps.h"
#include "compiler/graph/Origin.h"
#include "compiler/graph/State.h"
#include <cmath>

using namespace mlir;
using namespace halftone::graph;

namespace halftone::passes {
namespace {

// Parameters start at multiples of 64 elements, so that every one is aligned
// for vector access in any type.
constexpr int64_t kAlignment = 64;

/// Arithmetic over the flat arenas, with the old value kept where the step is
/// skipped.
class StepBuilder {
public:
  StepBuilder(ProgramOp program, ImplicitLocOpBuilder &b)
      : program(program), b(b) {}

  Value add(Value x, Value y) { return b.create<AddOp>(x, y); }
  Value sub(Value x, Value y) { return b.create<SubOp>(x, y); }
  Value mul(Value x, Value y) { return b.create<MulOp>(x, y); }
  Value mul(Value x, double y) { return mul(x, scalar(b, y)); }
  Value div(Value x, Value y) { return b.create<DivOp>(x, y); }
  Value state(StringRef name, Type type, double init) {
    return getOrCreateState(program, name, cast<RankedTensorType>(type), init);
  }
  Value scalarState(StringRef name, double init) {
    return state(name, RankedTensorType::get({}, b.getF32Type()), init);
  }

  /// Stores `value` into `target` unless the step is skipped.
  void update(Value target, Value value) {
    b.create<AssignOp>(target, b.create<WhereOp>(skip, target, value));
  }

  Value skip; ///< bool scalar

private:
  ProgramOp program;
  ImplicitLocOpBuilder &b;
};

/// All parameters, and all gradients, each as one vector; both have the same
/// places.
struct FlatTensors {
  Value parameter, gradient;
};

FlatTensors packTensors(ImplicitLocOpBuilder &b, ArrayRef<Value> parameters,
                        ArrayRef<Value> gradients) {
  SmallVector<Value> parts;
  SmallVector<int64_t> offsets;
  int64_t total = 0;
  for (auto [parameter, gradient] : llvm::zip_equal(parameters, gradients)) {
    parts.push_back(gradient ? gradient
                             : full(b, shapeOf(parameter), b.getF32Type(), 0));
    offsets.push_back(total);
    total = llvm::alignTo(total + numElements(shapeOf(parameter)), kAlignment);
  }
  auto pack = [&](ArrayRef<Value> values) {
    auto type = RankedTensorType::get({total}, b.getF32Type());
    return b.create<PackOp>(type, values, b.getDenseI64ArrayAttr(offsets))
        .getResult();
  };
  Value flatGradient = pack(parts);
  return {pack(parameters), flatGradient};
}

/// Skips the step where `loss` or an element of `gradient` is not finite, and
/// records that and the gradient's norm. The loss counts too, so that a NaN
/// that no gradient shows is seen.
void checkGradient(ImplicitLocOpBuilder &b, StepBuilder &s, Value gradient,
                   Value loss) {
  auto notFinite = [&](Value x) { // 1 where it is not.
    return b
        .create<WhereOp>(b.create<IsFiniteOp>(x), scalar(b, 0), scalar(b, 1))
        .getResult();
  };
  Value bad = b.create<ReduceMaxOp>(
      notFinite(gradient), b.getDenseI64ArrayAttr({0}), /*keepdims=*/1);
  Value squares = b.create<ReduceSumOp>(
      s.mul(gradient, gradient), b.getDenseI64ArrayAttr({0}), /*keepdims=*/1);
  bad = b.create<MaxOp>(ValueRange{
      b.create<ReshapeOp>(bad, ArrayRef<int64_t>{}), notFinite(loss)});
  s.skip = b.create<GreaterOp>(bad, scalar(b, 0));
  b.create<AssignOp>(s.scalarState("found_inf", 0), bad);
  Value norm =
      b.create<SqrtOp>(b.create<ReshapeOp>(squares, ArrayRef<int64_t>{}));
  b.create<AssignOp>(s.scalarState("grad_norm", 0), norm);
}

/// Counts the steps that were not skipped: the count with this one.
Value countStep(ImplicitLocOpBuilder &b, StepBuilder &s) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  Value count = s.state("step", type, 0);
  Value one = b.create<ConstantOp>(
      DenseElementsAttr::get(type, b.getI64IntegerAttr(1)));
  Value next = s.add(count, one);
  s.update(count, next);
  return next;
}

/// g + decay * p, where there is decay.
Value withDecay(StepBuilder &s, Value gradient, Value parameter, double decay) {
  return decay == 0 ? gradient : s.add(gradient, s.mul(parameter, decay));
}

void sgd(StepBuilder &s, Value parameter, Value gradient, Value rate,
         const OptimizerOptions &o) {
  Value direction = withDecay(s, gradient, parameter, o.weightDecay);
  if (o.momentum != 0) {
    // A zero buffer makes the first step's buffer the gradient itself, as
    // PyTorch has it.
    Value buffer = s.state("momentum", parameter.getType(), 0);
    Value next = s.add(s.mul(buffer, o.momentum), direction);
    s.update(buffer, next);
    direction = o.nesterov ? s.add(direction, s.mul(next, o.momentum)) : next;
  }
  s.update(parameter, s.sub(parameter, s.mul(direction, rate)));
}

/// 1 - beta^step, as -expm1(step log beta): 1 - pow in float32 would lose three
/// digits at beta = 0.999.
Value biasCorrection(ImplicitLocOpBuilder &b, StepBuilder &s, Value step,
                     double beta) {
  return b.create<NegOp>(b.create<Expm1Op>(s.mul(step, std::log(beta))));
}

void adam(ImplicitLocOpBuilder &b, StepBuilder &s, Value parameter,
          Value gradient, Value rate, Value step, const OptimizerOptions &o) {
  bool decoupled = o.kind == OptimizerKind::AdamW;
  if (!decoupled)
    gradient = withDecay(s, gradient, parameter, o.weightDecay);
  Value first = s.state("moment1", parameter.getType(), 0),
        second = s.state("moment2", parameter.getType(), 0);
  Value m = s.add(s.mul(first, o.beta1), s.mul(gradient, 1 - o.beta1));
  Value v = s.add(s.mul(second, o.beta2),
                  s.mul(s.mul(gradient, gradient), 1 - o.beta2));
  s.update(first, m);
  s.update(second, v);
  Value stepSize = s.div(rate, biasCorrection(b, s, step, o.beta1));
  Value root = b.create<SqrtOp>(biasCorrection(b, s, step, o.beta2));
  Value denominator =
      s.add(s.div(b.create<SqrtOp>(v), root), scalar(b, o.epsilon));
  Value decayed = parameter;
  if (decoupled && o.weightDecay != 0)
    decayed = s.mul(parameter, s.sub(scalar(b, 1), s.mul(rate, o.weightDecay)));
  s.update(parameter, s.sub(decayed, s.mul(stepSize, s.div(m, denominator))));
}

/// Halves the scale on overflow, doubles it after `interval` good steps in a
/// row.
void updateLossScale(ImplicitLocOpBuilder &b, StepBuilder &s, Value scale,
                     const LossScaleOptions &o) {
  Value tracker = s.scalarState("growth_tracker", 0);
  Value counted = s.add(tracker, scalar(b, 1));
  Value grow = b.create<GreaterOrEqualOp>(
      counted, scalar(b, static_cast<double>(o.interval)));
  Value grown =
      b.create<MinOp>(ValueRange{s.mul(scale, o.growth), scalar(b, o.maximum)});
  Value shrunk = b.create<MaxOp>(
      ValueRange{s.mul(scale, o.backoff), scalar(b, o.minimum)});
  Value good = b.create<WhereOp>(grow, grown, scale);
  b.create<AssignOp>(scale, b.create<WhereOp>(s.skip, shrunk, good));
  Value restart = b.create<OrOp>(s.skip, grow);
  b.create<AssignOp>(tracker,
                     b.create<WhereOp>(restart, scalar(b, 0), counted));
}

} // namespace

Value buildGradientSeed(ProgramOp program, const LossScaleOptions &options) {
  if (options.mode != LossScaleMode::Off)
    return getOrCreateState(
        program, "loss_scale",
        RankedTensorType::get({}, Builder(program.getContext()).getF32Type()),
        options.init);
  OpBuilder base = OpBuilder::atBlockEnd(&program.getBody().front());
  ImplicitLocOpBuilder b(NameLoc::get(base.getStringAttr("loss")), base);
  Value one = scalar(b, 1);
  one.getDefiningOp()->setAttr(kOrigin, b.getStringAttr("loss"));
  return one;
}

void buildOptimizerStep(ProgramOp program, Value loss,
                        ArrayRef<Value> parameters, ArrayRef<Value> gradients,
                        ArrayRef<std::pair<Value, Value>> pending,
                        const OptimizerOptions &optimizer,
                        const LossScaleOptions &lossScale) {
  OpBuilder base(program.getContext());
  OriginTagger tagger(
      base.getNamedAttr(kOrigin, base.getStringAttr("optimizer")));
  OpBuilder builder =
      OpBuilder::atBlockEnd(&program.getBody().front(), &tagger);
  ImplicitLocOpBuilder b(NameLoc::get(builder.getStringAttr("optimizer")),
                         builder);
  StepBuilder s(program, b);

  FlatTensors flat = packTensors(b, parameters, gradients);
  Value scale = lossScale.mode == LossScaleMode::Off
                    ? Value()
                    : s.scalarState("loss_scale", lossScale.init);
  Value gradient =
      scale ? s.mul(flat.gradient, b.create<ReciprocalOp>(scale).getResult())
            : flat.gradient;
  checkGradient(b, s, gradient, loss);

  Value rate = s.scalarState("learning_rate", optimizer.learningRate);
  Value next = countStep(b, s);
  if (optimizer.kind == OptimizerKind::Sgd)
    sgd(s, flat.parameter, gradient, rate, optimizer);
  else
    adam(b, s, flat.parameter, gradient, rate,
         b.create<CastOp>(next, b.getF32Type()), optimizer);
  for (auto [target, value] : pending)
    s.update(target, value);
  if (lossScale.mode == LossScaleMode::Dynamic)
    updateLossScale(b, s, scale, lossScale);
}

} // namespace halftone::passes
