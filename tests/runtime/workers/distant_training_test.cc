// Training and evaluation on a device that does not share host memory gives what a device that does
// gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "core/error.h"
#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "device/simulated.h"
#include "nn/initialize.h"
#include "runtime/executors/inference.h"
#include "tests/support/parity.h"
#include "tests/support/strict_device.h"

namespace hogbatch {
namespace {

std::unique_ptr<Device> MakeCpu() {
  return cpu::MakeDevice({.name = "cpu.0", .description = "test"});
}
std::unique_ptr<Device> MakeStrict() { return MakeStrictDevice(MakeCpu()); }

struct Learner {
  const char* name;
  const char* optimizer;
  double momentum;
  double decay;
};
constexpr Learner kLearners[] = {{"Sgd", "sgd", 0, 0},        {"SgdDecay", "sgd", 0, 0.3},
                                 {"Momentum", "sgd", 0.8, 0}, {"MomentumDecay", "sgd", 0.8, 0.3},
                                 {"Adam", "adam", 0, 0},      {"AdamDecay", "adam", 0, 0.3}};

enum class Weighting : std::uint8_t { kNone, kClasses };

using DistantCase = std::tuple<Storage, Loss, Learner, Weighting>;

class Distant : public testing::TestWithParam<DistantCase> {
 protected:
  Storage storage() const { return std::get<Storage>(GetParam()); }
  Loss loss() const { return std::get<Loss>(GetParam()); }
  std::int64_t outputs() const { return loss() == Loss::kSquared ? 1 : 5; }

  // Sparse rows name few of the columns, so that rows of weights are passed by; one in ten has
  // none.
  TrainingData Data() const {
    const bool sparse = storage() == Storage::kSparse;
    TrainingData made =
        MakeSynthetic({.rows = 900,
                       .features = sparse ? 300 : 21,
                       .nonzeros = sparse ? 4 : 0,
                       .classes = outputs(),
                       .label_kind = loss() == Loss::kSoftmax   ? LabelKind::kClass
                                     : loss() == Loss::kSigmoid ? LabelKind::kMultiLabel
                                                                : LabelKind::kValue,
                       .seed = 3});
    if (sparse) EmptyEveryTenthRow(made.data);
    return made;
  }

  ModelSpec Spec(const TrainingData& training) const {
    return {.inputs = training.data.features,
            .hidden = {17, 9},
            .outputs = outputs(),
            .activation = loss() == Loss::kSoftmax ? Activation::kRelu : Activation::kGelu,
            .loss = loss(),
            .sparse_input = training.data.is_sparse};
  }

  ParityOptions Options() const {
    const auto& learner = std::get<Learner>(GetParam());
    ParityOptions options{.batch_size = 24, .steps = 60};
    options.optimizer.optimizer = learner.optimizer;
    options.optimizer.momentum = learner.momentum;
    options.optimizer.weight_decay = learner.decay;
    options.rate.lr = learner.optimizer == std::string("adam") ? 0.003 : 0.02;
    if (std::get<Weighting>(GetParam()) == Weighting::kClasses) {
      options.class_weights = {0.5f, 1, 2, 0.25f, 3};
    }
    return options;
  }

 private:
  static void EmptyEveryTenthRow(Dataset& data) {
    Dataset kept = data;
    kept.columns.clear();
    kept.values.clear();
    for (std::size_t row = 0; row + 1 < data.offsets.size(); ++row) {
      const auto begin = data.offsets[row], end = row % 10 == 3 ? begin : data.offsets[row + 1];
      kept.columns.insert(kept.columns.end(), data.columns.begin() + begin,
                          data.columns.begin() + end);
      kept.values.insert(kept.values.end(), data.values.begin() + begin, data.values.begin() + end);
      kept.offsets[row + 1] = static_cast<std::int64_t>(kept.columns.size());
    }
    data = kept;
  }
};

std::string NameOfCase(const testing::TestParamInfo<DistantCase>& tested) {
  const auto& [storage, loss, learner, weighting] = tested.param;
  return std::string(storage == Storage::kSparse ? "Sparse" : "Dense") +
         (loss == Loss::kSoftmax   ? "Softmax"
          : loss == Loss::kSigmoid ? "Sigmoid"
                                   : "Squared") +
         learner.name + (weighting == Weighting::kClasses ? "Weighted" : "");
}

constexpr auto kStorages = {Storage::kDense, Storage::kSparse};
INSTANTIATE_TEST_SUITE_P(
    EveryLoss, Distant,
    testing::Combine(testing::ValuesIn(kStorages),
                     testing::Values(Loss::kSoftmax, Loss::kSigmoid, Loss::kSquared),
                     testing::ValuesIn(kLearners), testing::Values(Weighting::kNone)),
    NameOfCase);
INSTANTIATE_TEST_SUITE_P(Weighted, Distant,
                         testing::Combine(testing::ValuesIn(kStorages),
                                          testing::Values(Loss::kSoftmax, Loss::kSigmoid),
                                          testing::Values(kLearners[0], kLearners[3]),
                                          testing::Values(Weighting::kClasses)),
                         NameOfCase);

TEST_P(Distant, StepsHaveTheLossesAndWeightsOfSharedOnes) {
  const TrainingData training = Data();
  const ModelSpec spec = Spec(training);
  const ParityResult shared = TrainUpdates(training, spec, Options(), MakeCpu);
  const ParityResult distant = TrainUpdates(training, spec, Options(), MakeStrict);
  ASSERT_EQ(distant.losses.size(), shared.losses.size());
  for (std::size_t i = 0; i < shared.losses.size(); ++i) {
    ASSERT_NEAR(distant.losses[i], shared.losses[i], 2e-6 * (1 + shared.losses[i])) << "step " << i;
  }
  for (std::size_t i = 0; i < shared.weights.size(); ++i) {
    ASSERT_NEAR(distant.weights[i], shared.weights[i], 5e-6) << i;
  }
  EXPECT_EQ(distant.evaluation.rows, shared.evaluation.rows);
  EXPECT_NEAR(distant.evaluation.mean_loss(), shared.evaluation.mean_loss(), 1e-5);
  EXPECT_NE(distant.losses.front(), distant.losses.back());
}

// Here the very same calls make the gradient and the step, only elsewhere.
TEST_P(Distant, CommonStepsEqualSharedOnesToTheBit) {
  const TrainingData training = Data();
  const ModelSpec spec = Spec(training);
  ParityOptions options = Options();
  options.stepping = Stepping::kCommon;
  const ParityResult shared = TrainUpdates(training, spec, options, MakeCpu);
  const ParityResult distant = TrainUpdates(training, spec, options, MakeStrict);
  EXPECT_EQ(distant.losses, shared.losses);
  EXPECT_EQ(distant.weights, shared.weights);
}

std::vector<float> OutputsOn(const DeviceFactory& device, const ModelSpec& spec,
                             const Dataset& data) {
  std::vector<float> parameters(Layout(spec).floats);
  Initialize(Layout(spec), Initialization::kHe, 4, parameters);
  std::vector<float> outputs(data.rows * spec.outputs, NAN);
  Infer({&device, 1}, spec, parameters, data, {0, data.rows},
        [&](RowRange rows, std::span<const float> part) {
          std::copy(part.begin(), part.end(), outputs.begin() + rows.begin * spec.outputs);
        });
  return outputs;
}

// A network takes dense and sparse rows, whatever it was trained on.
TEST(DistantInference, HasTheOutputsOfASharedDevice) {
  for (const bool trained_on_sparse : {false, true}) {
    for (const std::int64_t nonzeros : {0, 4}) {
      // More rows than go through at once.
      const Dataset data = MakeSynthetic({.rows = 5000, .features = 50, .nonzeros = nonzeros}).data;
      const ModelSpec spec{.inputs = 50,
                           .hidden = {17, 9},
                           .outputs = 3,
                           .activation = Activation::kTanh,
                           .loss = Loss::kSoftmax,
                           .sparse_input = trained_on_sparse};
      const std::vector<float> shared = OutputsOn(MakeCpu, spec, data);
      const std::vector<float> distant = OutputsOn(MakeStrict, spec, data);
      for (std::size_t i = 0; i < shared.size(); ++i) ASSERT_NEAR(distant[i], shared[i], 1e-5) << i;
    }
  }
}

TEST(DistantInference, TellsOfADeviceThatFails) {
  const Dataset data = MakeSynthetic({.rows = 50, .features = 20}).data;
  const ModelSpec spec{.inputs = 20, .hidden = {}, .outputs = 2};
  const auto fails = [] { return sim::MakeSimulatedDevice(MakeStrict(), {.fail_call = 5}); };
  EXPECT_THROW(OutputsOn(fails, spec, data), DeviceError);
}

}  // namespace
}  // namespace hogbatch
