#include "nn/model.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cpu/cpu.h"
#include "nn/optimizer.h"
#include "problem.h"

namespace hogbatch {
namespace {

std::unique_ptr<Device> MakeCpu() { return cpu::MakeDevice({.name = "cpu.0", .description = ""}); }

ModelSpec Spec(Activation activation, bool sparse) {
  return {.inputs = 13,
          .hidden = {9, 17, 5},
          .outputs = 3,
          .activation = activation,
          .loss = Loss::kSoftmax,
          .sparse_input = sparse};
}

std::vector<LayerView> Views(const ParameterLayout& layout, std::vector<float>& flat) {
  return ViewLayers(layout, HostSpan(flat.data(), static_cast<std::int64_t>(flat.size())));
}

// Forward, loss and backward into `flat`, with the same scale and keep for every layer.
void BackwardInto(Problem& problem, Device& device, float scale, float keep,
                  std::vector<float>& flat) {
  Model model(problem.spec, device, problem.rows, Use::kTraining);
  const auto layers = Views(problem.layout, problem.parameters);
  std::vector<GradientTarget> targets;
  for (const LayerView& view : Views(problem.layout, flat)) {
    targets.push_back({.weights = view.weights, .bias = view.bias, .scale = scale, .keep = keep});
  }
  model.Forward(problem.Input(), layers);
  model.ComputeLoss(problem.Wanted(), problem.ClassWeights());
  model.Backward(problem.Input(), problem.Input(), layers, targets);
  device.Wait();
}

class Forward : public testing::TestWithParam<Use> {};

TEST_P(Forward, EqualsTheNetworkInDoublePrecisionAlsoForShortBatches) {
  const auto device = MakeCpu();
  for (const Activation f :
       {Activation::kSigmoid, Activation::kTanh, Activation::kRelu, Activation::kGelu}) {
    Problem problem(Spec(f, false), 7);
    Model model(problem.spec, *device, 10, GetParam());
    const Tensor outputs =
        model.Forward(problem.Input(), Views(problem.layout, problem.parameters));
    device->Wait();
    ASSERT_EQ(outputs.rows, 7);
    for (std::int64_t r = 0; r < 7; ++r) {
      const auto expected = problem.Outputs(r, problem.DoubleParameters());
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(outputs.host()[r * outputs.stride + static_cast<std::int64_t>(c)], expected[c],
                    1e-5);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Uses, Forward, testing::Values(Use::kTraining, Use::kInference),
                         [](const auto& test) {
                           return test.param == Use::kTraining ? "training" : "inference";
                         });

TEST(Model, GivesSparseAndDenseRowsTheSameGradient) {
  const auto device = MakeCpu();
  Problem dense(Spec(Activation::kTanh, false), 8);
  Problem sparse(Spec(Activation::kTanh, true), 8);
  std::vector<float> from_dense(dense.parameters.size(), 0.0f);
  std::vector<float> from_sparse(dense.parameters.size(), 0.0f);
  BackwardInto(dense, *device, 1, 0, from_dense);
  BackwardInto(sparse, *device, 1, 0, from_sparse);
  for (std::size_t i = 0; i < from_dense.size(); ++i) {
    ASSERT_NEAR(from_dense[i], from_sparse[i], 1e-6) << i;
  }
}

class DirectTarget : public testing::TestWithParam<bool> {};

TEST_P(DirectTarget, EqualsAPrivateGradientAndThenAStep) {
  const auto device = MakeCpu();
  const bool sparse = GetParam();
  constexpr float kRate = 0.25f;
  const double decay = sparse ? 0 : 0.5;  // decay with sparse rows is never direct
  Problem problem(Spec(Activation::kRelu, sparse), 8);
  std::vector<float> gradient(problem.parameters.size(), 0.0f);
  BackwardInto(problem, *device, 1, 0, gradient);

  OptimizerOptions options;
  options.weight_decay = decay;
  const auto optimizer = MakeOptimizer(options, 0, problem.spec, *device);
  ASSERT_TRUE(optimizer->direct());
  std::vector<float> stepped = problem.parameters;
  const auto gradients = Views(problem.layout, gradient);
  const auto weights = Views(problem.layout, stepped);
  for (int i = 0; i < problem.spec.layers(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    optimizer->Step(i,
                    {.weights = gradients[at].weights, .bias = gradients[at].bias, .touched = {}},
                    kRate, 1, weights[at]);
  }

  // The targets are the very weights that the pass reads.
  BackwardInto(problem, *device, -kRate, 1 - kRate * static_cast<float>(decay), problem.parameters);
  for (const LayerShape& shape : problem.layout.layers) {
    for (std::int64_t i = shape.weights_at; i < shape.weights_at + shape.in * shape.out; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_NEAR(problem.parameters[at], stepped[at], 1e-6) << i;
    }
    for (std::int64_t i = shape.bias_at; i < shape.bias_at + shape.out; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_NEAR(problem.parameters[at], stepped[at], 1e-6) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, DirectTarget, testing::Bool(),
                         [](const auto& test) { return test.param ? "sparse" : "dense"; });

TEST(Model, WritesACompactGradientOfTheTouchedRowsOnly) {
  const auto device = MakeCpu();
  ModelSpec spec = Spec(Activation::kSigmoid, true);
  spec.inputs = 40;
  Problem problem(spec, 1);
  ASSERT_LT(problem.touched.size(), 40u);
  std::vector<float> whole(problem.parameters.size(), 0.0f);
  BackwardInto(problem, *device, 1, 0, whole);

  const std::int64_t count = static_cast<std::int64_t>(problem.touched.size()), width = 9;
  std::vector<float> compact(count * width, 77.0f);
  std::vector<float> rest(problem.parameters.size(), 0.0f);
  std::vector<GradientTarget> targets;
  for (const LayerView& view : Views(problem.layout, rest)) {
    targets.push_back({.weights = view.weights, .bias = view.bias, .scale = 1, .keep = 0});
  }
  targets[0].weights = Tensor::Matrix(HostSpan(compact.data(), count * width), count, width);
  Model model(problem.spec, *device, 4, Use::kTraining);
  const auto layers = Views(problem.layout, problem.parameters);
  model.Forward(problem.Input(), layers);
  model.ComputeLoss(problem.Wanted(), problem.ClassWeights());
  model.Backward(problem.Input(), problem.Compact(), layers, targets);
  device->Wait();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = problem.touched[i];
    for (std::int64_t c = 0; c < width; ++c) {
      ASSERT_FLOAT_EQ(compact[i * width + c], whole[row * width + c]);
    }
  }
}

TEST(Model, RefusesWhatItWasNotMadeFor) {
  const auto device = MakeCpu();
  Problem problem(Spec(Activation::kRelu, false), 5);
  const auto layers = Views(problem.layout, problem.parameters);
  Model small(problem.spec, *device, 4, Use::kTraining);
  EXPECT_THROW(small.Forward(problem.Input(), layers), Error);
  Model inference(problem.spec, *device, 5, Use::kInference);
  inference.Forward(problem.Input(), layers);
  EXPECT_THROW(inference.ComputeLoss(problem.Wanted(), {}), Error);
  EXPECT_THROW(Model(problem.spec, *device, std::int64_t{1} << 60, Use::kTraining), UserError);
}

}  // namespace
}  // namespace hogbatch
