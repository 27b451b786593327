#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "cpu/cpu.h"
#include "nn/model.h"
#include "problem.h"

namespace hogbatch {
namespace {

enum class Rows : std::uint8_t { kDense, kSparse };
using Case = std::tuple<Activation, Loss, Rows, int>;

ModelSpec SpecOf(const Case& c) {
  const auto& [activation, loss, rows, layers] = c;
  ModelSpec spec;
  spec.inputs = 7;
  for (int i = 1; i < layers; ++i) spec.hidden.push_back(i == 1 ? 9 : 5);
  spec.outputs = 3;
  spec.activation = activation;
  spec.loss = loss;
  spec.sparse_input = rows == Rows::kSparse;
  return spec;
}

class Gradient : public testing::TestWithParam<Case> {
 protected:
  Gradient()
      : problem_(SpecOf(GetParam()), 11),
        device_(cpu::MakeDevice({.name = "cpu.0", .description = ""})) {}

  // The gradient of every parameter in the layout of the parameters, gaps zero.
  std::vector<float> FromDevice() {
    Model model(problem_.spec, *device_, 16, Use::kTraining);
    std::vector<float> flat(problem_.parameters.size(), 0.0f);
    const auto size = static_cast<std::int64_t>(flat.size());
    const auto layers = ViewLayers(problem_.layout, HostSpan(problem_.parameters.data(), size));
    std::vector<GradientTarget> targets;
    for (const LayerView& view : ViewLayers(problem_.layout, HostSpan(flat.data(), size))) {
      targets.push_back({.weights = view.weights, .bias = view.bias, .scale = 1, .keep = 0});
    }
    const BatchInput input = problem_.Input();
    model.Forward(input, layers);
    Targets wanted = problem_.Wanted();
    wanted.weights = HostSpan(std::span<const float>(weights_));
    model.ComputeLoss(wanted, problem_.ClassWeights());
    model.Backward(input, input, layers, targets);
    device_->Wait();
    return flat;
  }

  Problem problem_;
  std::vector<float> weights_;  // of rows; empty: all are 1
  std::unique_ptr<Device> device_;
};

TEST_P(Gradient, EqualsFiniteDifferencesOfTheLoss) {
  const std::vector<float> gradient = FromDevice();
  std::vector<double> flat = problem_.DoubleParameters();
  double largest = 0;
  // Sigmoid losses are reported as a mean over the outputs and followed as a sum.
  const bool summed = problem_.spec.loss == Loss::kSigmoid;
  const double objective = summed ? static_cast<double>(problem_.spec.outputs) : 1;
  for (const LayerShape& shape : problem_.layout.layers) {
    const std::int64_t end = shape.bias_at + shape.out;
    for (std::int64_t i = shape.weights_at; i < end; ++i) {
      if (i == shape.weights_at + shape.in * shape.out) i = shape.bias_at;  // over the gap
      const auto at = static_cast<std::size_t>(i);
      const double before = flat[at];
      constexpr double kStep = 1e-6;
      flat[at] = before + kStep;
      const double above = problem_.MeanLoss(flat);
      flat[at] = before - kStep;
      const double below = problem_.MeanLoss(flat);
      flat[at] = before;
      const double expected = objective * (above - below) / (2 * kStep);
      largest = std::max(largest, std::abs(expected));
      EXPECT_NEAR(gradient[at], expected, 2e-6 + 1e-5 * std::abs(expected)) << "parameter " << i;
    }
  }
  EXPECT_GT(largest, 0.01) << "nothing was compared";
}

TEST_P(Gradient, ComesWithTheLossOfEveryRow) {
  Model model(problem_.spec, *device_, problem_.rows, Use::kTraining);
  const auto size = static_cast<std::int64_t>(problem_.parameters.size());
  const auto layers = ViewLayers(problem_.layout, HostSpan(problem_.parameters.data(), size));
  model.Forward(problem_.Input(), layers);
  const Tensor losses = model.ComputeLoss(problem_.Wanted(), problem_.ClassWeights());
  device_->Wait();
  ASSERT_EQ(losses.data.size, problem_.rows);
  double sum = 0;
  for (std::int64_t r = 0; r < problem_.rows; ++r) sum += losses.host()[r];
  EXPECT_NEAR(sum / static_cast<double>(problem_.rows),
              problem_.MeanLoss(problem_.DoubleParameters()), 1e-5);
}

TEST_P(Gradient, OfARowIsMultipliedByItsWeight) {
  const std::vector<float> plain = FromDevice();
  weights_.assign(static_cast<std::size_t>(problem_.rows), 2.5f);
  const std::vector<float> weighted = FromDevice();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(weighted[i], 2.5 * plain[i], 1e-6 + 1e-5 * std::abs(plain[i])) << "parameter " << i;
  }
  weights_.assign(weights_.size(), 0.0f);
  for (const float number : FromDevice()) EXPECT_EQ(number, 0);
}

std::string NameOfCase(const testing::TestParamInfo<Case>& info) {
  const auto& [activation, loss, rows, layers] = info.param;
  return std::string(Name(activation)) + "_" + std::string(Name(loss)) +
         (rows == Rows::kSparse ? "_sparse_" : "_dense_") + std::to_string(layers) + "layers";
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, Gradient,
    testing::Combine(testing::Values(Activation::kIdentity, Activation::kSigmoid, Activation::kTanh,
                                     Activation::kRelu, Activation::kGelu),
                     testing::Values(Loss::kSoftmax, Loss::kSigmoid, Loss::kSquared),
                     testing::Values(Rows::kDense, Rows::kSparse), testing::Values(1, 2, 3)),
    NameOfCase);

}  // namespace
}  // namespace hogbatch
