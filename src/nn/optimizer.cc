#include "nn/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/words.h"
#include "nn/optimizer_state.h"

namespace hogbatch {
namespace {

// Adam divides each step by the size of the gradient, so one rate suits every loss. The gradient of
// squared error has no bound, and its curvature grows with the width of the last layer: a rate that
// suits the other losses makes sgd diverge.
constexpr std::array<OptimizerInfo, 2> kOptimizers{{
    {"sgd", OptimizerKind::kSgd, 0.05, 0.005, {0.02, 0.06, 0.2, 0.6}},
    {"adam", OptimizerKind::kAdam, 0.001, 0.001, {0.0003, 0.001, 0.003, 0.01}},
}};

constexpr auto kKinds = [] {
  std::array<NamedValue<OptimizerKind>, kOptimizers.size()> kinds{};
  std::ranges::transform(kOptimizers, kinds.begin(), [](const OptimizerInfo& info) {
    return NamedValue<OptimizerKind>{info.name, info.kind};
  });
  return kinds;
}();

// w = (1 - learning_rate · decay) · w - learning_rate · g. Only rows of a sparse layer have state:
// when decay was last applied to them.
class PlainSgd : public Optimizer {
 public:
  PlainSgd(const OptimizerOptions& options, std::int64_t sparse_rows, Device& device)
      : device_(device),
        decay_(options.weight_decay),
        direct_(IsDirect(options, 0, sparse_rows)),
        lazy_(device, sparse_rows) {}

  bool direct() const override { return direct_; }

  void Step(int, const LayerGradient& gradient, float learning_rate, std::int64_t update,
            const LayerView& weights) override {
    const float keep = Keep(decay_, learning_rate);
    if (!gradient.bias.empty()) device_.AddScaled(gradient.bias, -learning_rate, 1, weights.bias);
    if (gradient.weights.empty()) return;
    if (!gradient.is_sparse) {
      device_.AddScaled(gradient.weights, -learning_rate, keep, weights.weights);
    } else if (gradient.touched.size > 0) {
      const TouchedRows touched = lazy_.Touch(gradient, update);
      device_.Momentum(gradient.weights,
                       {.learning_rate = learning_rate, .momentum = 0, .keep = keep}, &touched, {},
                       weights.weights);
    }
  }

  OptimizerState Save() override {
    if (direct_) return {};
    return {.layers = {}, .last_touched = lazy_.last_touched()};
  }
  void Load(const OptimizerState& state) override {
    if (!direct_) lazy_.Load(state.last_touched);
  }

 private:
  // not state: device_, decay_
  Device& device_;
  double decay_;
  bool direct_;
  LazyRows lazy_;
};

// What momentum and Adam have in common: state in the shape of the parameters, biases that do not
// decay, and rows of a sparse layer that are stepped when they are touched.
class StatefulOptimizer : public Optimizer {
 public:
  StatefulOptimizer(double decay, std::int64_t sparse_rows, Device& device)
      : device_(device), decay_(decay), lazy_(device, sparse_rows) {}

  bool direct() const override { return false; }

  void Step(int layer, const LayerGradient& gradient, float learning_rate, std::int64_t update,
            const LayerView& weights) override {
    Check(update >= 1, "updates are counted from 1");
    if (!gradient.bias.empty()) StepBias(layer, gradient.bias, learning_rate, update, weights.bias);
    if (gradient.weights.empty()) return;
    const float keep = Keep(decay_, learning_rate);
    if (!gradient.is_sparse) {
      StepWeights(layer, gradient.weights, learning_rate, keep, update, nullptr, weights.weights);
    } else if (gradient.touched.size > 0) {
      const TouchedRows touched = lazy_.Touch(gradient, update);
      StepWeights(layer, gradient.weights, learning_rate, keep, update, &touched, weights.weights);
    }
  }

  OptimizerState Save() override { return SaveState(Arrays(), lazy_); }
  void Load(const OptimizerState& state) override { LoadState(state, Arrays(), lazy_); }

 protected:
  virtual std::span<StateMemory> Arrays() = 0;
  virtual void StepWeights(int layer, const Tensor& gradient, float learning_rate, float keep,
                           std::int64_t update, const TouchedRows* touched, const Tensor& w) = 0;
  virtual void StepBias(int layer, const Tensor& gradient, float learning_rate, std::int64_t update,
                        const Tensor& bias) = 0;

  // not state: device_, decay_
  Device& device_;

 private:
  double decay_;
  LazyRows lazy_;
};

class MomentumSgd : public StatefulOptimizer {
 public:
  MomentumSgd(double momentum, double decay, const ParameterLayout& layout,
              std::int64_t sparse_rows, Device& device)
      : StatefulOptimizer(decay, sparse_rows, device),
        momentum_(static_cast<float>(momentum)),
        velocity_(device, layout) {}

 private:
  void StepWeights(int layer, const Tensor& gradient, float learning_rate, float keep, std::int64_t,
                   const TouchedRows* touched, const Tensor& w) override {
    device_.Momentum(gradient,
                     {.learning_rate = learning_rate, .momentum = momentum_, .keep = keep}, touched,
                     velocity_.layer(layer).weights, w);
  }
  void StepBias(int layer, const Tensor& gradient, float learning_rate, std::int64_t,
                const Tensor& bias) override {
    device_.Momentum(gradient, {.learning_rate = learning_rate, .momentum = momentum_}, nullptr,
                     velocity_.layer(layer).bias, bias);
  }

  std::span<StateMemory> Arrays() override { return {&velocity_, 1}; }

  float momentum_;  // not state: momentum_
  StateMemory velocity_;
};

class AdamOptimizer : public StatefulOptimizer {
 public:
  AdamOptimizer(const OptimizerOptions& options, const ParameterLayout& layout,
                std::int64_t sparse_rows, Device& device)
      : StatefulOptimizer(options.weight_decay, sparse_rows, device),
        options_(options),
        moments_{StateMemory(device, layout), StateMemory(device, layout)} {}

 private:
  void StepWeights(int layer, const Tensor& gradient, float learning_rate, float keep,
                   std::int64_t update, const TouchedRows* touched, const Tensor& w) override {
    device_.Adam(gradient, AdamStepAt(options_, learning_rate, keep, update), touched,
                 moments_[0].layer(layer).weights, moments_[1].layer(layer).weights, w);
  }
  void StepBias(int layer, const Tensor& gradient, float learning_rate, std::int64_t update,
                const Tensor& bias) override {
    device_.Adam(gradient, AdamStepAt(options_, learning_rate, 1, update), nullptr,
                 moments_[0].layer(layer).bias, moments_[1].layer(layer).bias, bias);
  }

  std::span<StateMemory> Arrays() override { return moments_; }

  OptimizerOptions options_;            // not state: options_
  std::array<StateMemory, 2> moments_;  // mean and square
};

}  // namespace

float Keep(double decay, float learning_rate) {
  return static_cast<float>(std::max(0.0, 1 - static_cast<double>(learning_rate) * decay));
}

// Moments start at zero and are too small at first; the learning rate corrects for it.
AdamStep AdamStepAt(const OptimizerOptions& options, float learning_rate, float keep,
                    std::int64_t update) {
  const double t = static_cast<double>(update);
  const double beta1 = options.adam_beta1, beta2 = options.adam_beta2;
  const double correction = std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
  return {.learning_rate = static_cast<float>(learning_rate * correction),
          .beta1 = static_cast<float>(beta1),
          .beta2 = static_cast<float>(beta2),
          .epsilon = static_cast<float>(options.adam_epsilon),
          .keep = keep};
}

std::span<const OptimizerInfo> Optimizers() { return kOptimizers; }

const OptimizerInfo& InfoOf(OptimizerKind kind) {
  return *std::ranges::find(kOptimizers, kind, &OptimizerInfo::kind);
}

void OptimizerOptions::VisitKind(OptionVisitor& visitor, std::string_view help) {
  visitor.Word("optimizer", optimizer, WordsOf(kKinds), help);
}

void OptimizerOptions::VisitMomentum(OptionVisitor& visitor, std::string_view help) {
  visitor.Number("momentum", momentum, {0, 0.9999}, help);
}

void OptimizerOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Optimiser");
  VisitKind(visitor, "Optimiser; sgd is the usual choice for asynchronous workers");
  VisitMomentum(visitor, "Momentum of sgd, including the part that asynchronous workers cause");
  visitor.Flag("no-momentum-correction", no_momentum_correction,
               "Apply all of --momentum. By default it is lowered to max(0, 1 - (1 - momentum) * "
               "workers), because n asynchronous workers act like momentum 1 - 1/n (a heuristic)");
  visitor.Number("weight-decay", weight_decay, {0, 1e3},
                 "Each update shrinks the weights (not the biases) by learning rate * this");
  visitor.Number("adam-beta1", adam_beta1, {0, 0.999999},
                 "Decay rate of Adam's mean gradient: the share of it that an update keeps");
  visitor.Number("adam-beta2", adam_beta2, {0, 0.999999999},
                 "Decay rate of Adam's mean squared gradient");
  visitor.Number("adam-epsilon", adam_epsilon, {1e-30, 1},
                 "Added to the root of Adam's mean squared gradient, so that no step divides by 0");
}

OptimizerKind OptimizerOptions::kind() const { return ParseWord("--optimizer", optimizer, kKinds); }

void OptimizerOptions::Validate() const {
  if (kind() == OptimizerKind::kAdam && momentum > 0) {
    throw UserError(
        "--momentum belongs to --optimizer sgd: leave it out, or set --adam-beta1 instead");
  }
}

std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options, double momentum,
                                         const ParameterLayout& layout, std::int64_t sparse_rows,
                                         Device& device) {
  options.Validate();
  switch (options.kind()) {
    case OptimizerKind::kAdam:
      return std::make_unique<AdamOptimizer>(options, layout, sparse_rows, device);
    case OptimizerKind::kSgd:
      break;
  }
  Check(momentum >= 0 && momentum < 1, "momentum lies outside [0, 1)");
  if (momentum > 0) {
    return std::make_unique<MomentumSgd>(momentum, options.weight_decay, layout, sparse_rows,
                                         device);
  }
  return std::make_unique<PlainSgd>(options, sparse_rows, device);
}

std::size_t StateArrays(OptimizerKind kind, double momentum) {
  switch (kind) {
    case OptimizerKind::kAdam:
      return 2;  // mean and square
    case OptimizerKind::kSgd:
      break;
  }
  return momentum > 0 ? 1 : 0;
}

bool IsDirect(const OptimizerOptions& options, double momentum, std::int64_t sparse_rows) {
  return options.kind() == OptimizerKind::kSgd && momentum == 0 &&
         (options.weight_decay == 0 || sparse_rows == 0);
}

std::int64_t OptimizerBytes(const OptimizerOptions& options, double momentum,
                            const ParameterLayout& layout, std::int64_t sparse_rows) {
  const auto arrays = static_cast<std::int64_t>(StateArrays(options.kind(), momentum));
  return arrays * layout.floats * static_cast<std::int64_t>(sizeof(float)) +
         sparse_rows * static_cast<std::int64_t>(sizeof(std::int32_t));
}

}  // namespace hogbatch
