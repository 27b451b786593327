// Whole networks: what the calls of a device make together.
#include <algorithm>
#include <cmath>
#include <string>

#include "nn/lanes/lanes.h"
#include "nn/model.h"
#include "tests/device/reference.h"
#include "tests/nn/problem.h"

namespace hogbatch {
namespace {

// A problem's data in the memory of a device.
struct OnDevice {
  OnDevice(Device& device, const Problem& from)
      : problem(from),
        dense(device, from.dense),
        offsets(device, from.offsets),
        columns(device, from.columns),
        values(device, from.values),
        classes(device, from.classes),
        label_offsets(device, from.label_offsets),
        labels(device, from.labels),
        targets(device, from.targets),
        class_weights(device, from.class_weights) {}

  BatchInput Input() const {
    BatchInput input;
    input.is_sparse = problem.spec.sparse_input;
    if (input.is_sparse) {
      input.sparse = {.offsets = offsets.view(),
                      .columns = columns.view(),
                      .values = values.view(),
                      .rows = problem.rows,
                      .cols = problem.spec.inputs};
    } else {
      input.dense = Tensor::Matrix(dense.span(), problem.rows, problem.spec.inputs);
    }
    return input;
  }
  Targets Wanted() const {
    switch (problem.spec.loss) {
      case Loss::kSoftmax:
        return {.classes = classes.view()};
      case Loss::kSigmoid:
        return {.label_offsets = label_offsets.view(), .labels = labels.view()};
      case Loss::kSquared:
        break;
    }
    return {.values = targets.view()};
  }
  Tensor ClassWeights() const {
    if (problem.spec.loss == Loss::kSquared) return {};
    return Tensor::Vector(class_weights.span());
  }

  const Problem& problem;
  const DeviceArray<float> dense;
  const DeviceArray<std::int64_t> offsets;
  const DeviceArray<std::int32_t> columns;
  const DeviceArray<float> values;
  const DeviceArray<std::int32_t> classes;
  const DeviceArray<std::int64_t> label_offsets;
  const DeviceArray<std::int32_t> labels;
  const DeviceArray<float> targets, class_weights;
};

class Network : public OnEveryDevice {
 protected:
  struct Result {
    std::vector<float> gradient;  // of every parameter, in the layout of the parameters
    std::vector<float> losses;
  };

  Result Run(const Problem& problem) { return Run(problem, problem.spec, problem.parameters); }
  // With the rows of the problem and lanes of its network.
  Result Run(const Problem& problem, const ModelSpec& spec, const std::vector<float>& parameters) {
    const OnDevice data(device(), problem);
    const DeviceArray<float> weights(device(), parameters);
    const DeviceArray<float> gradient(device(), std::vector<float>(parameters.size(), 0));
    const ParameterLayout layout = Layout(spec);
    Model model(spec, device(), problem.rows + 5, hogbatch::Use::kTraining);
    const auto layers = ViewLayers(layout, weights.span());
    std::vector<GradientTarget> targets;
    for (const LayerView& view : ViewLayers(layout, gradient.span())) {
      targets.push_back({.weights = view.weights, .bias = view.bias, .scale = 1, .keep = 0});
    }
    const BatchInput input = data.Input();
    model.Forward(input, layers);
    const Tensor losses = model.ComputeLoss(data.Wanted(), data.ClassWeights());
    model.Backward(input, input, layers, targets);
    Result result{{}, std::vector<float>(static_cast<std::size_t>(problem.rows * spec.lanes))};
    device().Download(losses.data.base,
                      static_cast<std::size_t>(losses.data.offset) * sizeof(float),
                      std::as_writable_bytes(std::span(result.losses)));
    result.gradient = gradient.Get();
    return result;
  }

  // The derivative of what training follows, in double: of a sigmoid loss, which is reported as a
  // mean over the outputs, it follows the sum.
  static double Slope(const Problem& problem, std::vector<double>& flat, std::size_t at) {
    constexpr double kStep = 1e-6;
    const double before = flat[at];
    flat[at] = before + kStep;
    const double above = problem.MeanLoss(flat);
    flat[at] = before - kStep;
    const double below = problem.MeanLoss(flat);
    flat[at] = before;
    const bool summed = problem.spec.loss == Loss::kSigmoid;
    return (summed ? static_cast<double>(problem.spec.outputs) : 1) * (above - below) / (2 * kStep);
  }

  static void ExpectRight(const Problem& problem, const Result& got) {
    std::vector<double> flat = problem.DoubleParameters();
    double sum = 0, largest = 0;
    for (const float loss : got.losses) sum += loss;
    EXPECT_NEAR(sum / static_cast<double>(problem.rows), problem.MeanLoss(flat), 1e-5);
    const auto compare = [&](std::int64_t begin, std::int64_t count) {
      for (auto at = static_cast<std::size_t>(begin); count > 0; ++at, --count) {
        const double expected = Slope(problem, flat, at);
        largest = std::max(largest, std::abs(expected));
        ASSERT_NEAR(got.gradient[at], expected, 2e-6 + 1e-5 * std::abs(expected)) << at;
      }
    };
    for (const LayerShape& shape : problem.layout.layers) {
      compare(shape.weights_at, shape.in * shape.out);
      compare(shape.bias_at, shape.out);
    }
    EXPECT_GT(largest, 0.01) << "nothing was compared";
  }
};
HOGBATCH_ON_EVERY_DEVICE(Network);

TEST_P(Network, GradientsEqualFiniteDifferencesOfTheLoss) {
  for (const Activation activation : kAllActivations) {
    for (const Loss loss : {Loss::kSoftmax, Loss::kSigmoid, Loss::kSquared}) {
      for (const bool sparse : {false, true}) {
        for (const std::size_t hidden : {0, 1, 2}) {
          ModelSpec spec;
          spec.inputs = 7;
          spec.hidden.assign({9, 5});
          spec.hidden.resize(hidden);
          spec.outputs = 3;
          spec.activation = activation;
          spec.loss = loss;
          spec.sparse_input = sparse;
          SCOPED_TRACE(testing::Message()
                       << Name(activation) << ", " << Name(loss) << ", " << hidden
                       << (sparse ? " hidden, sparse" : " hidden, dense"));
          const Problem problem(spec, 11);
          ExpectRight(problem, Run(problem));
        }
      }
    }
  }
}

TEST_P(Network, GradientsOfLanesEqualFiniteDifferencesOfTheirLosses) {
  for (const Loss loss : {Loss::kSoftmax, Loss::kSigmoid, Loss::kSquared}) {
    for (const bool sparse : {false, true}) {
      const ModelSpec spec{.inputs = 7,
                           .hidden = {9, 5},
                           .outputs = 3,
                           .activation = Activation::kGelu,
                           .loss = loss,
                           .sparse_input = sparse,
                           .lanes = 3};
      Problem problem(Alone(spec), 11);
      std::vector<std::vector<float>> lanes;
      std::vector<float> all(Layout(spec).floats, 0.0f);
      for (std::int64_t i = 0; i < spec.lanes; ++i) {
        lanes.push_back(Problem(problem.spec, 1, 20 + static_cast<std::uint64_t>(i)).parameters);
        SetLane(spec, i, lanes.back(), all);
      }
      const Result got = Run(problem, spec, all);
      for (std::int64_t i = 0; i < spec.lanes; ++i) {
        SCOPED_TRACE(testing::Message() << Name(loss) << ", lane " << i);
        Result lane{LaneOf(spec, got.gradient, i), {}};
        for (std::int64_t r = 0; r < problem.rows; ++r) {
          lane.losses.push_back(got.losses[static_cast<std::size_t>(r * spec.lanes + i)]);
        }
        problem.parameters = lanes[static_cast<std::size_t>(i)];
        ExpectRight(problem, lane);
      }
    }
  }
}

}  // namespace
}  // namespace hogbatch
