#include "runtime/workers/probe_recorder.h"

namespace hogbatch {
namespace {

// One row of weights and as many biases.
ParameterLayout LayoutOf(std::int64_t probes) {
  ParameterLayout layout;
  layout.Append(1, probes, Activation::kIdentity);
  return layout;
}

}  // namespace

void ProbeRecorder::RecordDirect(const Model::LastLayer& last, float learning_rate, float keep) {
  const Probes& probes = memory_.probes;
  Values values;
  const std::span<float> added = First(values);
  device_.Wait();
  const Tensor& x = last.x;
  const Tensor& dy = last.dy;
  if (probes.are_biases()) keep = 1;  // biases do not decay
  probes.Read(memory_.store, added);
  for (std::size_t i = 0; i < added.size(); ++i) {
    const Probes::Position& position = probes.positions()[i];
    float gradient = 0;
    for (std::int64_t row = 0; row < dy.rows; ++row) {
      const float in = probes.are_biases() ? 1 : x.host()[row * x.stride + position.row];
      gradient += in * dy.host()[row * dy.stride + position.col];
    }
    added[i] = (keep - 1) * added[i] - learning_rate * gradient;
  }
  memory_.probes.Expect(worker_, added);
}

void ProbeRecorder::RecordStep(const LayerGradient& gradient, float learning_rate,
                               std::int64_t update) {
  const Probes& probes = memory_.probes;
  const auto count = static_cast<std::int64_t>(probes.positions().size());
  if (!of_probes_) {
    of_probes_ =
        MakeOptimizer(memory_.optimizer, memory_.explicit_momentum, LayoutOf(count), 0, device_);
  }
  Values gradients;
  Values before;
  Values after;
  Values nothing = {};
  probes.Read(memory_.store, First(before));
  after = before;
  for (std::size_t i = 0; i < First(gradients).size(); ++i) {
    const Probes::Position& position = probes.positions()[i];
    gradients[i] =
        probes.are_biases()
            ? gradient.bias.host()[position.col]
            : gradient.weights.host()[position.row * gradient.weights.stride + position.col];
  }
  const auto vector = [&](Values& values) {
    return Tensor::Vector(HostSpan(values.data(), count));
  };
  Values unused = {};
  const bool biases = probes.are_biases();
  of_probes_->Step(
      0,
      {.weights = vector(biases ? nothing : gradients),
       .bias = vector(biases ? gradients : nothing),
       .touched = {},
       .touched_on_host = {}},
      learning_rate, update,
      {.weights = vector(biases ? unused : after), .bias = vector(biases ? after : unused)});
  device_.Wait();
  for (std::size_t i = 0; i < First(after).size(); ++i) after[i] -= before[i];
  memory_.probes.Expect(worker_, First(after));
}

}  // namespace hogbatch
