#include "nn/lanes/lane_optimizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "nn/lanes/lanes.h"
#include "nn/optimizer_state.h"

namespace hogbatch {
namespace {

// Numbers that change with every update. Those of the last update may still be uploading; those of
// the one before have arrived.
template <typename T>
class DoubleBuffered {
 public:
  DoubleBuffered(Device& device, std::size_t count) : device_(device) {
    for (std::vector<T>& values : values_) values.resize(count);
    memory_ = Buffer(device, count * sizeof(T));
  }
  // The caller fills all of it, then calls Upload().
  std::span<T> Next() { return values_[turn_ ^= 1]; }
  void Upload() { device_.Upload(std::as_bytes(std::span(values_[turn_])), view().base, 0); }
  DeviceSpan<const T> view() const { return memory_.template span<const T>(); }

 private:
  Device& device_;
  std::array<std::vector<T>, 2> values_;
  std::size_t turn_ = 0;
  Buffer memory_;
};

void SetStep(const OptimizerOptions& lane, float learning_rate, std::int64_t, MomentumStep& step) {
  step = {.learning_rate = learning_rate,
          .momentum = static_cast<float>(lane.momentum),
          .keep = Keep(lane.weight_decay, learning_rate)};
}
void SetStep(const OptimizerOptions& lane, float learning_rate, std::int64_t update,
             AdamStep& step) {
  step = AdamStepAt(lane, learning_rate, Keep(lane.weight_decay, learning_rate), update);
}

bool HasDecay(const OptimizerOptions& lane) { return lane.weight_decay > 0; }

// The state arrays are those of StateArrays, in the order in which the device's call takes them.
template <typename Step>
class SteppedLanes final : public LaneOptimizer {
 public:
  SteppedLanes(std::span<const OptimizerOptions> lanes, const ModelSpec& spec, Device& device)
      : device_(device),
        layout_(Layout(spec)),
        lanes_(lanes.begin(), lanes.end()),
        direct_(StateArrays(lanes) == 0 && std::ranges::none_of(lanes, HasDecay)),
        factors_(device, lanes.size()),
        weight_steps_(device, lanes.size()),
        bias_steps_(device, lanes.size()),
        lazy_(device, spec.sparse_input ? spec.inputs : 0) {
    for (std::size_t i = 0; i < StateArrays(lanes); ++i) state_.emplace_back(device, layout_);
  }

  bool direct() const override { return direct_; }

  void Begin(std::span<const float> learning_rates, std::int64_t update) override {
    Check(learning_rates.size() == lanes_.size(), "every lane has its learning rate");
    Check(update >= 1, "updates are counted from 1");
    update_ = update;
    const std::span<float> factors = factors_.Next();
    const std::span<Step> weights = weight_steps_.Next(), biases = bias_steps_.Next();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      factors[i] = learning_rates[i];
      SetStep(lanes_[i], learning_rates[i], update, weights[i]);
      biases[i] = weights[i];
      biases[i].keep = 1;
    }
    factors_.Upload();
    weight_steps_.Upload();
    bias_steps_.Upload();
  }
  DeviceSpan<const float> lane_factors() const override { return factors_.view(); }

  void StepLayer(int layer, const LayerGradient& gradient, const LayerView& weights) override {
    const LanePart part = PartOf(layout_, layer, 0);
    if (!gradient.bias.empty()) {
      Move(gradient.bias, {bias_steps_.view(), 1, part.cols}, nullptr, layer, &LayerView::bias,
           weights.bias);
    }
    if (gradient.weights.empty() || (gradient.is_sparse && gradient.touched.size == 0)) return;
    std::optional<TouchedRows> touched;
    if (gradient.is_sparse) touched = lazy_.Touch(gradient, update_);
    Move(gradient.weights, {weight_steps_.view(), part.rows, part.cols},
         touched ? &*touched : nullptr, layer, &LayerView::weights, weights.weights);
  }

  OptimizerState Save() override { return SaveState(state_, lazy_); }
  void Load(const OptimizerState& state) override { LoadState(state, state_, lazy_); }

 private:
  void Move(const Tensor& gradient, const LaneSteps<Step>& steps, const TouchedRows* touched,
            int layer, Tensor LayerView::* part, const Tensor& w) {
    const auto state = [&](std::size_t i) {
      return i < state_.size() ? state_[i].layer(layer).*part : Tensor{};
    };
    if constexpr (std::is_same_v<Step, AdamStep>) {
      device_.AdamOfLanes(gradient, steps, touched, state(0), state(1), w);
    } else {
      device_.MomentumOfLanes(gradient, steps, touched, state(0), w);
    }
  }

  // not state: device_, layout_, lanes_, direct_, update_, factors_, weight_steps_, bias_steps_
  // (Begin sets those of an update)
  Device& device_;
  ParameterLayout layout_;
  std::vector<OptimizerOptions> lanes_;
  bool direct_;
  std::int64_t update_ = 0;
  DoubleBuffered<float> factors_;
  DoubleBuffered<Step> weight_steps_;
  DoubleBuffered<Step> bias_steps_;  // which do not decay
  LazyRows lazy_;
  std::vector<StateMemory> state_;
};

}  // namespace

std::size_t StateArrays(std::span<const OptimizerOptions> lanes) {
  std::size_t most = 0;
  for (const OptimizerOptions& lane : lanes) {
    most = std::max(most, StateArrays(lane.kind(), lane.momentum));
  }
  return most;
}

std::unique_ptr<LaneOptimizer> MakeLaneOptimizer(std::span<const OptimizerOptions> lanes,
                                                 const ModelSpec& spec, Device& device) {
  Check(static_cast<std::int64_t>(lanes.size()) == spec.lanes, "every lane has its options");
  for (const OptimizerOptions& lane : lanes) {
    lane.Validate();
    Check(lane.kind() == lanes.front().kind(), "lanes have one kind of optimiser");
  }
  switch (lanes.front().kind()) {
    case OptimizerKind::kAdam:
      return std::make_unique<SteppedLanes<AdamStep>>(lanes, spec, device);
    case OptimizerKind::kSgd:
      break;
  }
  return std::make_unique<SteppedLanes<MomentumStep>>(lanes, spec, device);
}

}  // namespace hogbatch
