#include "runtime/workers/deferred_updates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cpu/cpu.h"
#include "runtime/batches/batch.h"
#include "runtime/workers/faster_variant.h"
#include "tests/runtime/small_problem.h"

namespace hogbatch {
namespace {

constexpr float kRate = 0.1f;

class Deferred : public testing::TestWithParam<Storage> {
 protected:
  Deferred() {
    spec_ = {.inputs = data_.features,
             .hidden = {33, 20},
             .outputs = 2,
             .activation = Activation::kGelu};
    spec_.sparse_input = data_.is_sparse;
    layout_ = Layout(spec_);
  }

  AlignedFloats Weights() const {
    AlignedFloats weights(layout_.floats);
    Random random(3);
    for (float& w : weights.span()) w = static_cast<float>(0.3 * random.Normal());
    return weights;
  }
  std::vector<LayerView> Views(const AlignedFloats& weights) const {
    return ViewLayers(layout_, HostSpan(weights.data(), layout_.floats));
  }
  static std::vector<GradientTarget> TargetsIn(std::span<const LayerView> views) {
    std::vector<GradientTarget> targets;
    for (const LayerView& view : views) {
      targets.push_back(
          {.weights = view.weights, .bias = view.bias, .scale = -kRate, .keep = 0.999f});
    }
    return targets;
  }
  static RowRange Batch(int i) { return {i * 7, i * 7 + 5 + i % 3}; }

  Dataset data_ = MakeRows(200, 12, GetParam());
  ModelSpec spec_;
  ParameterLayout layout_;
  std::unique_ptr<Device> device_ = cpu::MakeDevice({.name = "cpu.0", .description = ""});
};

TEST_P(Deferred, MakesTheModelThatUpdatesInTimeMake) {
  const AlignedFloats now = Weights(), deferred = Weights();
  const std::vector<LayerView> now_views = Views(now), deferred_views = Views(deferred);
  Model model(spec_, *device_, 64, Use::kTraining);
  DeferredUpdates updates(spec_, *device_, deferred_views);
  const auto now_targets = TargetsIn(now_views), deferred_targets = TargetsIn(deferred_views);
  for (int i = 0; i < 20; ++i) {
    const BatchInput input = ViewInput(data_, Batch(i));
    const Targets wanted = ViewTargets(data_, Batch(i));
    model.Forward(input, now_views);
    const Tensor losses = model.ComputeLoss(wanted, {});
    model.Backward(input, input, now_views, now_targets);
    updates.Forward(input, deferred_targets);
    const Tensor deferred_losses = updates.ComputeLoss(wanted, {});
    for (std::int64_t r = 0; r < input.rows(); ++r) {
      EXPECT_NEAR(deferred_losses.host()[r], losses.host()[r], 1e-4) << "batch " << i;
    }
    updates.Backward();
    if (i == 10) updates.Flush();
  }
  updates.Flush();
  updates.Flush();  // nothing is pending any more
  double largest = 0;
  const AlignedFloats first = Weights();
  for (std::size_t i = 0; i < now.size(); ++i) {
    EXPECT_NEAR(deferred.data()[i], now.data()[i], 1e-4) << i;
    largest = std::max<double>(largest, std::abs(now.data()[i] - first.data()[i]));
  }
  EXPECT_GT(largest, 0.01) << "nothing was learnt";
}

INSTANTIATE_TEST_SUITE_P(All, Deferred, testing::Values(Storage::kDense, Storage::kSparse),
                         [](const auto& storage) {
                           return storage.param == Storage::kDense ? "dense" : "sparse";
                         });

TEST(FasterVariant, IsTakenMostOfTheTime) {
  for (const int faster : {0, 1}) {
    FasterVariant variant;
    int updates = 0;
    for (int i = 0; i < 20000; ++i) {
      updates += variant.present() == faster;
      variant.Add(variant.present() == faster ? 1 : 1.5);
    }
    EXPECT_GT(updates, 19500);
  }
}

TEST(FasterVariant, DoesNotDependOnAnUpdateThatWasInterrupted) {
  FasterVariant variant;
  int updates = 0;
  for (int i = 0; i < 20000; ++i) {
    updates += variant.present() == 1;
    const double interrupted = variant.present() == 1 && i % 7 == 0 ? 100 : 0;
    variant.Add(interrupted + (variant.present() == 1 ? 1 : 1.5));
  }
  EXPECT_GT(updates, 19500);
}

TEST(FasterVariant, IsFoundAgainWhenItChanges) {
  FasterVariant variant;
  int updates = 0;
  for (int i = 0; i < 40000; ++i) {
    const int faster = i / 10000 % 2;
    updates += variant.present() == faster;
    variant.Add(variant.present() == faster ? 1 : 2);
  }
  EXPECT_GT(updates, 30000);
}

}  // namespace
}  // namespace hogbatch
