#include "nn/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/words.h"
#include "device/buffer.h"
#include "nn/layer_blocks.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<OptimizerKind>, 2> kKinds{{
    {"sgd", OptimizerKind::kSgd},
    {"adam", OptimizerKind::kAdam},
}};

// Remembers when each row of a sparse layer was last touched, so that the decay and momentum of the
// updates it skipped can be applied when it is touched again.
class LazyRows {
 public:
  LazyRows(Device& device, std::int64_t rows)
      : device_(device),
        last_(rows, 0),
        skipped_on_device_(device, static_cast<std::size_t>(rows) * sizeof(std::int32_t)) {}

  TouchedRows Touch(const LayerGradient& gradient, std::int64_t update) {
    const std::span<const std::int32_t> rows = gradient.touched_on_host;
    Check(static_cast<std::int64_t>(rows.size()) == gradient.touched.size,
          "host and device know the same touched rows");
    Check(rows.size() <= last_.size(), "an update touches more rows than a layer has");
    // Those of the last update may still be uploading; those of the one before have arrived.
    std::vector<std::int32_t>& skipped_rows = skipped_[static_cast<std::size_t>(turn_ ^= 1)];
    skipped_rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);  // a negative one becomes huge
      Check(row < last_.size(), "an update touches a row its layer does not have");
      std::int64_t& last = last_[row];
      const std::int64_t missed = std::max<std::int64_t>(0, update - last - 1);
      skipped_rows[i] = static_cast<std::int32_t>(
          std::min<std::int64_t>(missed, std::numeric_limits<std::int32_t>::max()));
      last = update;
    }
    const auto skipped = skipped_on_device_.span<const std::int32_t>();
    device_.Upload(std::as_bytes(std::span(skipped_rows)), skipped.base, 0);
    return {.rows = gradient.touched, .skipped = skipped.Sub(0, gradient.touched.size)};
  }

  const std::vector<std::int64_t>& last_touched() const { return last_; }
  void Load(const std::vector<std::int64_t>& last_touched) {
    Check(last_touched.size() == last_.size(), "saved rows are as many as a layer has");
    last_ = last_touched;
  }

 private:
  Device& device_;
  std::vector<std::int64_t> last_;                    // update of each row's last touch; 0: never
  std::array<std::vector<std::int32_t>, 2> skipped_;  // used in turn
  int turn_ = 0;
  Buffer skipped_on_device_;
};

// Zeroed memory in the shape of the parameters.
class StateMemory {
 public:
  StateMemory(Device& device, const ParameterLayout& layout)
      : device_(device), blocks_(device, layout) {
    for (const LayerView& view : blocks_.views()) {
      if (!view.weights.empty()) device.Fill(view.weights, 0);
      device.Fill(view.bias, 0);
    }
  }
  const LayerView& layer(int i) const { return blocks_.views()[i]; }
  std::size_t layers() const { return blocks_.views().size(); }

  void SaveTo(OptimizerState& state) {
    for (std::size_t i = 0; i < layers(); ++i) {
      std::vector<float>& saved =
          state.layers.emplace_back(static_cast<std::size_t>(blocks_.floats(i)));
      blocks_.Download(i, saved);
      device_.Wait();
      const Tensor& weights = blocks_.views()[i].weights;
      std::fill(saved.begin() + weights.rows * weights.cols, saved.begin() + blocks_.bias_at(i), 0);
    }
  }
  // `layers` begins with those of this array.
  void Load(std::span<const std::vector<float>> saved) {
    Check(saved.size() >= layers(), "saved state has all layers");
    for (std::size_t i = 0; i < layers(); ++i) blocks_.Upload(i, saved[i]);
    device_.Wait();
  }

 private:
  Device& device_;
  LayerBlocks blocks_;
};

// w = (1 - learning_rate · decay) · w - learning_rate · g. Only rows of a sparse layer have state:
// when decay was last applied to them.
class PlainSgd : public Optimizer {
 public:
  PlainSgd(double decay, std::int64_t sparse_rows, Device& device)
      : device_(device),
        decay_(decay),
        direct_(decay == 0 || sparse_rows == 0),
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

  OptimizerState Save() override {
    OptimizerState state{.layers = {}, .last_touched = lazy_.last_touched()};
    for (StateMemory* array : Arrays()) array->SaveTo(state);
    return state;
  }
  void Load(const OptimizerState& state) override {
    lazy_.Load(state.last_touched);
    std::span<const std::vector<float>> layers = state.layers;
    for (StateMemory* array : Arrays()) {
      array->Load(layers);
      layers = layers.subspan(array->layers());
    }
    Check(layers.empty(), "saved state has no further layers");
  }

 protected:
  virtual std::vector<StateMemory*> Arrays() = 0;
  virtual void StepWeights(int layer, const Tensor& gradient, float learning_rate, float keep,
                           std::int64_t update, const TouchedRows* touched, const Tensor& w) = 0;
  virtual void StepBias(int layer, const Tensor& gradient, float learning_rate, std::int64_t update,
                        const Tensor& bias) = 0;

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

  std::vector<StateMemory*> Arrays() override { return {&velocity_}; }

  float momentum_;
  StateMemory velocity_;
};

class AdamOptimizer : public StatefulOptimizer {
 public:
  AdamOptimizer(const OptimizerOptions& options, const ParameterLayout& layout,
                std::int64_t sparse_rows, Device& device)
      : StatefulOptimizer(options.weight_decay, sparse_rows, device),
        beta1_(options.adam_beta1),
        beta2_(options.adam_beta2),
        epsilon_(options.adam_epsilon),
        mean_(device, layout),
        square_(device, layout) {}

 private:
  void StepWeights(int layer, const Tensor& gradient, float learning_rate, float keep,
                   std::int64_t update, const TouchedRows* touched, const Tensor& w) override {
    device_.Adam(gradient, At(learning_rate, keep, update), touched, mean_.layer(layer).weights,
                 square_.layer(layer).weights, w);
  }
  void StepBias(int layer, const Tensor& gradient, float learning_rate, std::int64_t update,
                const Tensor& bias) override {
    device_.Adam(gradient, At(learning_rate, 1, update), nullptr, mean_.layer(layer).bias,
                 square_.layer(layer).bias, bias);
  }

  std::vector<StateMemory*> Arrays() override { return {&mean_, &square_}; }

  // Moments start at zero and are too small at first; the learning rate corrects for it.
  AdamStep At(float learning_rate, float keep, std::int64_t update) const {
    const double t = static_cast<double>(update);
    const double correction = std::sqrt(1 - std::pow(beta2_, t)) / (1 - std::pow(beta1_, t));
    return {.learning_rate = static_cast<float>(learning_rate * correction),
            .beta1 = static_cast<float>(beta1_),
            .beta2 = static_cast<float>(beta2_),
            .epsilon = static_cast<float>(epsilon_),
            .keep = keep};
  }

  double beta1_;
  double beta2_;
  double epsilon_;
  StateMemory mean_;
  StateMemory square_;
};

}  // namespace

float Keep(double decay, float learning_rate) {
  return static_cast<float>(std::max(0.0, 1 - static_cast<double>(learning_rate) * decay));
}

void OptimizerOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Optimiser");
  visitor.Word("optimizer", optimizer, WordsOf(kKinds),
               "Optimiser; sgd is the usual choice for asynchronous workers");
  visitor.Number("momentum", momentum, {0, 0.9999},
                 "Momentum of sgd, including the part that asynchronous workers cause");
  visitor.Flag("no-momentum-correction", no_momentum_correction,
               "Apply all of --momentum explicitly. Without this flag it is lowered to max(0, 1 - "
               "(1 - momentum) * workers), because n asynchronous workers act like momentum 1 - "
               "1/n (a heuristic)");
  visitor.Number("weight-decay", weight_decay, {0, 1e3},
                 "Every update shrinks the weights, but not the biases, by learning rate * this");
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
  if (options.kind() == OptimizerKind::kAdam) {
    return std::make_unique<AdamOptimizer>(options, layout, sparse_rows, device);
  }
  Check(momentum >= 0 && momentum < 1, "momentum lies outside [0, 1)");
  const double decay = options.weight_decay;
  if (momentum > 0) {
    return std::make_unique<MomentumSgd>(momentum, decay, layout, sparse_rows, device);
  }
  return std::make_unique<PlainSgd>(decay, sparse_rows, device);
}

bool IsDirect(const OptimizerOptions& options, double momentum, std::int64_t sparse_rows) {
  return options.kind() == OptimizerKind::kSgd && momentum == 0 &&
         (options.weight_decay == 0 || sparse_rows == 0);
}

std::int64_t OptimizerBytes(const OptimizerOptions& options, double momentum,
                            const ParameterLayout& layout, std::int64_t sparse_rows) {
  const bool is_adam = options.kind() == OptimizerKind::kAdam;
  const std::int64_t states = is_adam ? 2 : (momentum > 0 ? 1 : 0);
  return states * layout.floats * static_cast<std::int64_t>(sizeof(float)) +
         sparse_rows * static_cast<std::int64_t>(sizeof(std::int32_t));
}

}  // namespace hogbatch
