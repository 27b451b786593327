// How much faster lanes train than one model at a time, on one core: the same updates of the same
// rows, straight into the weights (plain SGD). Each round times both once; the counters are medians
// of rounds:
//   alone    examples/s of one network after the other, each many updates at a time, so that its
//            weights stay in the cache
//   lanes    examples/s of all lanes together; an example counts once for each lane
//   ratio    lanes / alone
#include "nn/lanes/lanes.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/median.h"
#include "bench/processor_time.h"
#include "core/random.h"
#include "cpu/cpu.h"
#include "nn/lanes/lane_optimizer.h"
#include "nn/model.h"

namespace hogbatch::bench {
namespace {

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kBatches = 64;

struct Network {
  std::vector<std::int64_t> widths;
  std::int64_t lanes;
};

// Rows and classes, the same for all.
struct Rows {
  Rows(std::int64_t features, std::int64_t outputs) : x(kBatches * kRows * features) {
    Random random(1);
    for (float& value : x) value = static_cast<float>(random.Normal());
    for (std::int64_t r = 0; r < kBatches * kRows; ++r) {
      classes.push_back(static_cast<std::int32_t>(random.Below(outputs)));
    }
  }
  std::vector<float> x;
  std::vector<std::int32_t> classes;
};

// A network with its weights; Train makes an update of each batch.
class Trained {
 public:
  Trained(Device& device, const ModelSpec& spec)
      : spec_(spec),
        layout_(Layout(spec)),
        weights_(layout_.floats),
        rates_(spec.lanes, 1e-4f),
        optimizer_(MakeLaneOptimizer(std::vector<OptimizerOptions>(spec.lanes), spec, device)),
        model_(spec, device, kRows, Use::kTraining) {
    InitializeLanes(spec, Initialization::kXavier, std::vector<std::uint64_t>(spec.lanes, 3),
                    weights_);
    layers_ = ViewLayers(layout_, HostSpan(weights_.data(), layout_.floats));
    for (const LayerView& layer : layers_) {
      const float scale = spec.lanes == 1 ? -rates_.front() : -1;
      targets_.push_back({.weights = layer.weights, .bias = layer.bias, .scale = scale, .keep = 1});
    }
  }

  void Train(Rows& rows) {
    optimizer_->Begin(rates_, 1);
    const std::int64_t features = spec_.inputs;
    for (std::int64_t b = 0; b < kBatches; ++b) {
      BatchInput input;
      input.dense = Tensor::Matrix(HostSpan(rows.x.data() + b * kRows * features, kRows * features),
                                   kRows, features);
      const Targets wanted{
          .classes = HostSpan<const std::int32_t>(rows.classes.data() + b * kRows, kRows)};
      model_.Forward(input, layers_);
      model_.ComputeLoss(wanted, {},
                         spec_.lanes == 1 ? DeviceSpan<const float>{} : optimizer_->lane_factors());
      model_.Backward(input, input, layers_, targets_);
    }
  }

 private:
  ModelSpec spec_;
  ParameterLayout layout_;
  std::vector<float> weights_;
  std::vector<float> rates_;
  std::unique_ptr<LaneOptimizer> optimizer_;
  Model model_;
  std::vector<LayerView> layers_;
  std::vector<GradientTarget> targets_;
};

void Lanes(benchmark::State& state, const Network& network) {
  const auto device = cpu::MakeDevice(cpu::Describe());
  const std::vector<std::int64_t>& widths = network.widths;
  const ModelSpec spec{.inputs = widths.front(),
                       .hidden = {widths.begin() + 1, widths.end() - 1},
                       .outputs = widths.back(),
                       .lanes = network.lanes};
  Rows rows(spec.inputs, spec.outputs);
  Trained together(*device, spec);
  std::vector<std::unique_ptr<Trained>> alone;
  for (std::int64_t i = 0; i < network.lanes; ++i) {
    alone.push_back(std::make_unique<Trained>(*device, Alone(spec)));
  }
  const double examples = static_cast<double>(kBatches * kRows * network.lanes);
  const auto rate = [&](const auto& train) {
    const double start = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    train();
    return examples / (ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - start);
  };
  std::vector<double> lone_rates, lane_rates, ratios;
  for (auto _ : state) {
    lane_rates.push_back(rate([&] { together.Train(rows); }));
    lone_rates.push_back(rate([&] {
      for (const auto& one : alone) one->Train(rows);
    }));
    ratios.push_back(lane_rates.back() / lone_rates.back());
  }
  state.counters["alone"] = Median(lone_rates);
  state.counters["lanes"] = Median(lane_rates);
  state.counters["ratio"] = Median(ratios);
}

#define HOGBATCH_LANES(name, ...)                      \
  BENCHMARK_CAPTURE(Lanes, name, Network{__VA_ARGS__}) \
      ->Iterations(15)                                 \
      ->Unit(benchmark::kMillisecond)
HOGBATCH_LANES(54_64_64_2_by_8, {54, 64, 64, 2}, 8);
HOGBATCH_LANES(54_64_64_2_by_15, {54, 64, 64, 2}, 15);
HOGBATCH_LANES(54_64_64_2_by_16, {54, 64, 64, 2}, 16);
HOGBATCH_LANES(54_64_64_2_by_64, {54, 64, 64, 2}, 64);
HOGBATCH_LANES(784_128_10_by_1, {784, 128, 10}, 1);
HOGBATCH_LANES(784_128_10_by_4, {784, 128, 10}, 4);
HOGBATCH_LANES(784_128_10_by_16, {784, 128, 10}, 16);
HOGBATCH_LANES(300_512_512_2_by_2, {300, 512, 512, 2}, 2);
HOGBATCH_LANES(300_512_512_2_by_8, {300, 512, 512, 2}, 8);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
