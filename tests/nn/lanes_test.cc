// Lanes of a network train as each of them does alone.
#include "nn/lanes/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/error.h"
#include "cpu/cpu.h"
#include "device/buffer.h"
#include "nn/lanes/lane_optimizer.h"
#include "problem.h"
#include "tests/support/strict_device.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kLanes = 4;

ModelSpec SpecOfLanes(bool sparse, std::int64_t lanes = kLanes) {
  return {.inputs = 13,
          .hidden = {9, 6},
          .outputs = 3,
          .activation = Activation::kTanh,
          .loss = Loss::kSoftmax,
          .sparse_input = sparse,
          .lanes = lanes};
}

std::vector<float> Start(const ModelSpec& spec, std::uint64_t first_seed) {
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = 0; i < spec.lanes; ++i) seeds.push_back(first_seed + i);
  std::vector<float> flat(Layout(spec).floats, 7.0f);
  InitializeLanes(spec, Initialization::kXavier, seeds, flat);
  return flat;
}

TEST(LanesOfANetwork, LieSideBySideAndThenOneBelowTheOther) {
  const ParameterLayout layout = Layout(SpecOfLanes(false));
  const LayerShape &first = layout.layers[0], &second = layout.layers[1];
  EXPECT_EQ(first.in, 13);
  EXPECT_EQ(first.out, kLanes * 9);
  EXPECT_EQ(first.width, kLanes * 9);
  EXPECT_EQ(second.in, kLanes * 9);
  EXPECT_EQ(second.out, 6);
  EXPECT_EQ(second.width, kLanes * 6);
  EXPECT_EQ(layout.parameters, kLanes * Layout(SpecOfLanes(false, 1)).parameters);
}

TEST(LanesOfANetwork, StartAsTheyWouldAlone) {
  const ModelSpec spec = SpecOfLanes(false);
  const std::vector<float> flat = Start(spec, 5);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(LaneOf(spec, flat, i), Start(Alone(spec), 5 + i));
  }
}

TEST(LanesOfANetwork, ComeOutAsTheyWentIn) {
  const ModelSpec spec = SpecOfLanes(false);
  const std::vector<float> before = Start(spec, 5), other = Start(Alone(spec), 99);
  std::vector<float> flat = before;
  SetLane(spec, 2, other, flat);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(LaneOf(spec, flat, i), i == 2 ? other : LaneOf(spec, before, i));
  }
  EXPECT_THROW(LaneOf(spec, flat, kLanes), Error);
}

TEST(LanesOfANetwork, ThatNoMemoryHoldsAreRefused) {
  ModelSpec spec = SpecOfLanes(false);
  spec.lanes = std::int64_t{1} << 40;
  EXPECT_THROW(Layout(spec), UserError);
}

// Updates of a network, with lanes or alone, on the rows of a problem.
class Training {
 public:
  Training(const Problem& data, const ModelSpec& spec, std::vector<float> start)
      : data_(data),
        spec_(spec),
        layout_(Layout(spec)),
        weights_(std::move(start)),
        model_(spec, *device_, data.rows, Use::kTraining) {}

  Device& device() { return *device_; }
  const std::vector<float>& weights() const { return weights_; }

  // Straight into the weights.
  std::vector<float> Direct(float scale, float keep, const DeviceSpan<const float>& factors) {
    std::vector<GradientTarget> targets;
    for (const LayerView& view : Views(weights_)) {
      targets.push_back({.weights = view.weights, .bias = view.bias, .scale = scale, .keep = keep});
    }
    return Pass(data_.Input(), targets, factors);
  }

  // A private gradient; step(layer, gradient, weights) makes the update.
  template <typename F>
  void Private(F step) {
    std::vector<float> gradient(weights_.size(), 0.0f);
    const auto count = static_cast<std::int64_t>(data_.touched.size());
    const std::int64_t width = layout_.layers[0].out;
    std::vector<float> compact(count * width);
    std::vector<GradientTarget> targets;
    for (const LayerView& view : Views(gradient)) {
      targets.push_back({.weights = view.weights, .bias = view.bias, .scale = 1, .keep = 0});
    }
    const bool sparse = spec_.sparse_input;
    if (sparse) {
      targets[0].weights = Tensor::Matrix(HostSpan(compact.data(), count * width), count, width);
    }
    Pass(sparse ? data_.Compact() : data_.Input(), targets, {});
    const std::vector<LayerView> weights = Views(weights_);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const bool is_sparse = sparse && i == 0;
      step(static_cast<int>(i),
           LayerGradient{
               .weights = targets[i].weights,
               .bias = targets[i].bias,
               .touched = HostSpan<const std::int32_t>(data_.touched.data(), is_sparse ? count : 0),
               .touched_on_host =
                   is_sparse ? std::span(data_.touched) : std::span<const std::int32_t>(),
               .is_sparse = is_sparse},
           weights[i]);
    }
  }

 private:
  std::vector<LayerView> Views(std::vector<float>& flat) const {
    return ViewLayers(layout_, HostSpan(flat.data(), layout_.floats));
  }
  // The losses, row by row.
  std::vector<float> Pass(const BatchInput& first, const std::vector<GradientTarget>& targets,
                          const DeviceSpan<const float>& factors) {
    const std::vector<LayerView> layers = Views(weights_);
    model_.Forward(data_.Input(), layers);
    const Tensor losses = model_.ComputeLoss(data_.Wanted(), data_.ClassWeights(), factors);
    std::vector<float> all;
    for (std::int64_t r = 0; r < losses.rows; ++r) {
      for (std::int64_t c = 0; c < losses.cols; ++c) {
        all.push_back(losses.host()[r * losses.stride + c]);
      }
    }
    model_.Backward(data_.Input(), first, layers, targets);
    return all;
  }

  const Problem& data_;
  ModelSpec spec_;
  ParameterLayout layout_;
  std::vector<float> weights_;
  std::unique_ptr<Device> device_ = cpu::MakeDevice({.name = "cpu.0", .description = ""});
  Model model_;
};

void ExpectClose(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5) << i;
}

struct LaneCase {
  const char* name;
  const char* optimizer;
  double momentum, decay;  // of the last lane; others have less
};
constexpr LaneCase kLaneCases[] = {
    {"sgd", "sgd", 0, 0},        {"decay", "sgd", 0, 0.3},
    {"momentum", "sgd", 0.9, 0}, {"momentum_and_decay", "sgd", 0.9, 0.3},
    {"adam", "adam", 0, 0},      {"adam_and_decay", "adam", 0, 0.3}};

class LaneUpdates : public testing::TestWithParam<std::tuple<LaneCase, bool>> {
 protected:
  static constexpr int kUpdates = 3;
  const LaneCase case_ = std::get<0>(GetParam());
  const ModelSpec spec_ = SpecOfLanes(std::get<1>(GetParam()));
  const Problem data_{Alone(spec_), 8};
  const std::vector<float> rates_ = {0.1f, 0.02f, 0.3f, 0.05f};

  std::vector<OptimizerOptions> Options() const {
    std::vector<OptimizerOptions> lanes;
    for (std::int64_t i = 0; i < kLanes; ++i) {
      const double share = static_cast<double>(i) / (kLanes - 1);
      OptimizerOptions lane;
      lane.optimizer = case_.optimizer;
      lane.momentum = share * case_.momentum;
      lane.weight_decay = share * case_.decay;
      lanes.push_back(lane);
    }
    return lanes;
  }

  std::vector<float> TrainLanes(std::vector<float> start, const std::vector<float>& rates) const {
    Training training(data_, spec_, std::move(start));
    const auto optimizer = MakeLaneOptimizer(Options(), spec_, training.device());
    EXPECT_EQ(optimizer->direct(), case_.momentum == 0 && case_.decay == 0 &&
                                       case_.optimizer == std::string_view("sgd"));
    for (int update = 1; update <= kUpdates; ++update) {
      optimizer->Begin(rates, update);
      if (optimizer->direct()) {
        training.Direct(-1, 1, optimizer->lane_factors());
      } else {
        training.Private([&](int layer, const LayerGradient& gradient, const LayerView& weights) {
          optimizer->StepLayer(layer, gradient, weights);
        });
      }
    }
    return training.weights();
  }

  std::vector<float> TrainAlone(std::vector<float> start, std::int64_t lane) const {
    Training training(data_, Alone(spec_), std::move(start));
    const OptimizerOptions options = Options()[static_cast<std::size_t>(lane)];
    const float rate = rates_[static_cast<std::size_t>(lane)];
    const auto optimizer =
        MakeOptimizer(options, options.momentum, Alone(spec_), training.device());
    for (int update = 1; update <= kUpdates; ++update) {
      training.Private([&](int layer, const LayerGradient& gradient, const LayerView& weights) {
        optimizer->Step(layer, gradient, rate, update, weights);
      });
    }
    return training.weights();
  }
};

TEST_P(LaneUpdates, EqualThoseOfEachLaneAlone) {
  const std::vector<float> start = Start(spec_, 5);
  const std::vector<float> together = TrainLanes(start, rates_);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    SCOPED_TRACE(i);
    const std::vector<float> before = LaneOf(spec_, start, i), got = LaneOf(spec_, together, i);
    EXPECT_NE(got, before);
    ExpectClose(got, TrainAlone(before, i));
  }
}

TEST_P(LaneUpdates, OfANanLaneLeaveItsNeighboursAlone) {
  const std::vector<float> start = Start(spec_, 5);
  std::vector<float> broken = start;
  std::vector<float> lane = LaneOf(spec_, start, 1);
  for (float& w : lane) w = std::numeric_limits<float>::quiet_NaN();
  SetLane(spec_, 1, lane, broken);
  std::vector<float> stopped = rates_;
  stopped[1] = 0;
  const std::vector<float> expected = TrainLanes(start, rates_);
  for (const std::vector<float>& rates : {rates_, stopped}) {
    const std::vector<float> got = TrainLanes(broken, rates);
    for (const std::int64_t i : {0, 2, 3}) {
      EXPECT_EQ(LaneOf(spec_, got, i), LaneOf(spec_, expected, i));
    }
  }
}

TEST_P(LaneUpdates, DoNotMoveALaneThatIsStopped) {
  const std::vector<float> start = Start(spec_, 5);
  std::vector<float> stopped = rates_;
  stopped[3] = 0;
  const std::vector<float> got = TrainLanes(start, stopped);
  EXPECT_EQ(LaneOf(spec_, got, 3), LaneOf(spec_, start, 3));
  EXPECT_EQ(LaneOf(spec_, got, 0), LaneOf(spec_, TrainLanes(start, rates_), 0));
}

TEST_P(LaneUpdates, GoOnFromSavedState) {
  if (case_.optimizer == std::string_view("sgd") && case_.momentum == 0) return;
  Training first(data_, spec_, Start(spec_, 5)), second(data_, spec_, Start(spec_, 5));
  const auto optimizer = MakeLaneOptimizer(Options(), spec_, first.device());
  const auto again = MakeLaneOptimizer(Options(), spec_, second.device());
  const auto update = [&](Training& training, LaneOptimizer& with, int number) {
    with.Begin(rates_, number);
    training.Private([&](int layer, const LayerGradient& gradient, const LayerView& weights) {
      with.StepLayer(layer, gradient, weights);
    });
  };
  update(first, *optimizer, 1);
  update(second, *optimizer, 1);  // the same state and other weights
  again->Load(optimizer->Save());
  Training third(data_, spec_, second.weights());
  update(second, *optimizer, 2);
  update(third, *again, 2);
  EXPECT_EQ(second.weights(), third.weights());
}

INSTANTIATE_TEST_SUITE_P(, LaneUpdates,
                         testing::Combine(testing::ValuesIn(kLaneCases), testing::Bool()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) +
                                  (std::get<1>(test.param) ? "_sparse" : "_dense");
                         });

// Three updates of all lanes in memory that only the device sees.
std::vector<float> TrainOn(Device& device, const Problem& data, const ModelSpec& spec,
                           const OptimizerOptions& options) {
  const auto put = [&](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    Buffer buffer(device, bytes.size());
    device.Upload(bytes, buffer.span<float>().base, 0);
    return buffer;
  };
  std::vector<float> flat = Start(spec, 5);
  const std::vector<float> rates = {0.1f, 0.02f, 0, 0.05f};
  const Buffer weights = put(flat), gradient = put(flat), x = put(data.dense);
  const Buffer classes = put(data.classes);
  BatchInput input;
  input.dense = Tensor::Matrix(x.span<float>(), data.rows, spec.inputs);
  const ParameterLayout layout = Layout(spec);
  const std::vector<LayerView> layers = ViewLayers(layout, weights.span<float>());
  const auto optimizer =
      MakeLaneOptimizer(std::vector<OptimizerOptions>(kLanes, options), spec, device);
  std::vector<GradientTarget> targets;
  for (const LayerView& to :
       optimizer->direct() ? layers : ViewLayers(layout, gradient.span<float>())) {
    targets.push_back({.weights = to.weights,
                       .bias = to.bias,
                       .scale = optimizer->direct() ? -1.0f : 1.0f,
                       .keep = optimizer->direct() ? 1.0f : 0.0f});
  }
  Model model(spec, device, data.rows, Use::kTraining);
  for (int update = 1; update <= 3; ++update) {
    optimizer->Begin(rates, update);
    model.Forward(input, layers);
    model.ComputeLoss({.classes = classes.span<const std::int32_t>()}, {},
                      optimizer->direct() ? optimizer->lane_factors() : DeviceSpan<const float>{});
    model.Backward(input, input, layers, targets);
    for (int i = 0; !optimizer->direct() && i < static_cast<int>(targets.size()); ++i) {
      optimizer->StepLayer(i, {.weights = targets[i].weights, .bias = targets[i].bias}, layers[i]);
    }
    device.Wait();
  }
  device.Download(weights.span<float>().base, 0, std::as_writable_bytes(std::span(flat)));
  device.Wait();
  return flat;
}

TEST(LanesOfANetwork, TrainOnADeviceThatTakesItsContractAtItsWord) {
  const ModelSpec spec = SpecOfLanes(false);
  const Problem data(Alone(spec), 8);
  const auto make = [] { return cpu::MakeDevice({.name = "cpu.0", .description = ""}); };
  for (const LaneCase& c : kLaneCases) {
    SCOPED_TRACE(c.name);
    OptimizerOptions options;
    options.optimizer = c.optimizer;
    options.momentum = c.momentum;
    options.weight_decay = c.decay;
    const auto processor = make(), strict = MakeStrictDevice(make());
    EXPECT_EQ(TrainOn(*strict, data, spec, options), TrainOn(*processor, data, spec, options));
  }
}

TEST(LaneOptimizers, RefuseLanesOfAnotherKind) {
  const auto device = cpu::MakeDevice({.name = "cpu.0", .description = ""});
  std::vector<OptimizerOptions> lanes(2);
  lanes[1].optimizer = "adam";
  EXPECT_THROW(MakeLaneOptimizer(lanes, SpecOfLanes(false, 2), *device), Error);
  EXPECT_THROW(MakeLaneOptimizer(lanes, SpecOfLanes(false, 3), *device), Error);
}

}  // namespace
}  // namespace hogbatch
