#include "nn/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "cpu/cpu.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kIn = 6, kOut = 5;
constexpr float kRate = 0.1f;

enum class InputRows : std::uint8_t { kDense, kSparse };

// One layer that a dense or sparse optimiser steps with random gradients.
class Trial {
 public:
  Trial(const OptimizerOptions& options, InputRows rows)
      : device_(cpu::MakeDevice({.name = "cpu.0", .description = ""})),
        spec_{.inputs = kIn,
              .hidden = {},
              .outputs = kOut,
              .activation = Activation::kRelu,
              .loss = Loss::kSoftmax,
              .sparse_input = rows == InputRows::kSparse},
        optimizer_(MakeOptimizer(options, options.momentum, spec_, *device_)) {
    Random random(3);
    for (float& w : weights_) w = static_cast<float>(random.Normal());
    for (float& b : bias_) b = static_cast<float>(random.Normal());
  }

  // `gradient` has a row for each of `touched`.
  void Step(std::vector<float> gradient, std::vector<float> bias_gradient,
            const std::vector<std::int32_t>& touched, std::int64_t update) {
    Step(gradient, bias_gradient, touched, update, weights_);
  }

  // The same on a copy of the touched rows alone, which is then put back.
  void StepCopy(std::vector<float> gradient, std::vector<float> bias_gradient,
                const std::vector<std::int32_t>& touched, std::int64_t update) {
    std::vector<float> copy;
    for (const std::int32_t row : touched) {
      copy.insert(copy.end(), weights_.begin() + row * kOut, weights_.begin() + (row + 1) * kOut);
    }
    Step(gradient, bias_gradient, touched, update, copy);
    for (std::size_t i = 0; i < touched.size(); ++i) {
      std::copy_n(copy.begin() + static_cast<std::ptrdiff_t>(i) * kOut, kOut,
                  weights_.begin() + touched[i] * kOut);
    }
  }

  const std::vector<float>& weights() const { return weights_; }
  const std::vector<float>& bias() const { return bias_; }
  const Optimizer& optimizer() const { return *optimizer_; }

 private:
  void Step(std::vector<float>& gradient, std::vector<float>& bias_gradient,
            const std::vector<std::int32_t>& touched, std::int64_t update,
            std::vector<float>& weights) {
    const auto count = static_cast<std::int64_t>(gradient.size()) / kOut;
    const LayerGradient layer{.weights = Matrix(gradient, count),
                              .bias = Matrix(bias_gradient, 1),
                              .touched = HostSpan<const std::int32_t>(touched.data(), count),
                              .touched_on_host = touched,
                              .is_sparse = spec_.sparse_input};
    const auto rows = static_cast<std::int64_t>(weights.size()) / kOut;
    optimizer_->Step(0, layer, kRate, update,
                     {.weights = Matrix(weights, rows), .bias = Matrix(bias_, 1)});
    device_->Wait();
  }

  static Tensor Matrix(std::vector<float>& v, std::int64_t rows) {
    return Tensor::Matrix(HostSpan(v.data(), static_cast<std::int64_t>(v.size())), rows, kOut);
  }

  std::unique_ptr<Device> device_;
  ModelSpec spec_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<float> weights_ = std::vector<float>(kIn * kOut);
  std::vector<float> bias_ = std::vector<float>(kOut);
};

std::vector<float> RandomNumbers(Random& random, std::size_t count) {
  std::vector<float> numbers(count);
  for (float& x : numbers) x = static_cast<float>(random.Normal());
  return numbers;
}

void ExpectNear(const std::vector<float>& got, const std::vector<double>& expected,
                double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << i;
}

std::vector<double> Doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

const std::vector<std::int32_t> kNone = {};

TEST(Sgd, StepsAgainstTheGradientAndShrinksWeightsOnly) {
  OptimizerOptions options;
  options.weight_decay = 0.5;
  Trial trial(options, InputRows::kDense);
  std::vector<double> w = Doubles(trial.weights()), b = Doubles(trial.bias());
  Random random(9);
  for (int update = 1; update <= 3; ++update) {
    const auto g = RandomNumbers(random, kIn * kOut), gb = RandomNumbers(random, kOut);
    trial.Step(g, gb, kNone, update);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = (1 - kRate * 0.5) * w[i] - kRate * g[i];
    for (std::size_t i = 0; i < b.size(); ++i) b[i] -= kRate * gb[i];
  }
  ExpectNear(trial.weights(), w, 1e-6);
  ExpectNear(trial.bias(), b, 1e-6);
}

TEST(Momentum, RemembersPastGradientsOfWeightsAndBiases) {
  OptimizerOptions options;
  options.momentum = 0.9;
  options.weight_decay = 0.2;
  Trial trial(options, InputRows::kDense);
  std::vector<double> w = Doubles(trial.weights()), b = Doubles(trial.bias());
  std::vector<double> v(w.size(), 0), vb(b.size(), 0);
  Random random(9);
  for (int update = 1; update <= 5; ++update) {
    const auto g = RandomNumbers(random, kIn * kOut), gb = RandomNumbers(random, kOut);
    trial.Step(g, gb, kNone, update);
    for (std::size_t i = 0; i < w.size(); ++i) {
      v[i] = 0.9 * v[i] + g[i];
      w[i] = (1 - kRate * 0.2) * w[i] - kRate * v[i];
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      vb[i] = 0.9 * vb[i] + gb[i];
      b[i] -= kRate * vb[i];
    }
  }
  ExpectNear(trial.weights(), w, 5e-6);
  ExpectNear(trial.bias(), b, 5e-6);
}

TEST(Adam, FollowsItsFormulaFromTheFirstUpdateOn) {
  OptimizerOptions options;
  options.optimizer = "adam";
  options.weight_decay = 0.2;
  options.adam_epsilon = 1e-12;
  Trial trial(options, InputRows::kDense);
  std::vector<double> w = Doubles(trial.weights()), b = Doubles(trial.bias());
  std::vector<double> m(w.size(), 0), s(w.size(), 0), mb(b.size(), 0), sb(b.size(), 0);
  const auto step = [](double& m_, double& s_, double g, int t) {
    m_ = 0.9 * m_ + 0.1 * g;
    s_ = 0.999 * s_ + 0.001 * g * g;
    return kRate * (m_ / (1 - std::pow(0.9, t))) / std::sqrt(s_ / (1 - std::pow(0.999, t)));
  };
  Random random(9);
  for (int t = 1; t <= 5; ++t) {
    const auto g = RandomNumbers(random, kIn * kOut), gb = RandomNumbers(random, kOut);
    trial.Step(g, gb, kNone, t);
    for (std::size_t i = 0; i < w.size(); ++i) {
      w[i] = (1 - kRate * 0.2) * w[i] - step(m[i], s[i], g[i], t);
    }
    for (std::size_t i = 0; i < b.size(); ++i) b[i] -= step(mb[i], sb[i], gb[i], t);
  }
  ExpectNear(trial.weights(), w, 2e-5);
  ExpectNear(trial.bias(), b, 2e-5);
}

// A sparse layer that sees a row only now and then must end where a dense one ends that gets zeros
// for it meanwhile; the last update touches all rows, so that nothing is still to be made up for.
void ExpectLazyEqualsDense(const OptimizerOptions& options, double tolerance) {
  Trial dense(options, InputRows::kDense), sparse(options, InputRows::kSparse);
  Random random(4);
  for (std::int64_t update = 1; update <= 12; ++update) {
    std::vector<std::int32_t> touched;
    std::vector<float> compact, whole(kIn * kOut, 0.0f);
    for (std::int32_t row = 0; row < kIn; ++row) {
      if (update < 12 && random.Uniform() < 0.7) continue;
      touched.push_back(row);
      const auto g = RandomNumbers(random, kOut);
      compact.insert(compact.end(), g.begin(), g.end());
      std::copy(g.begin(), g.end(), whole.begin() + row * kOut);
    }
    const auto gb = RandomNumbers(random, kOut);
    dense.Step(whole, gb, kNone, update);
    sparse.Step(compact, gb, touched, update);
  }
  ExpectNear(sparse.weights(), Doubles(dense.weights()), tolerance);
  ExpectNear(sparse.bias(), Doubles(dense.bias()), 1e-7);
}

TEST(LazyRows, ReceiveTheSameWithoutDecayOrMomentum) { ExpectLazyEqualsDense({}, 1e-6); }

TEST(LazyRows, MakeUpForDecay) {
  OptimizerOptions options;
  options.weight_decay = 0.7;
  ExpectLazyEqualsDense(options, 1e-5);
}

TEST(LazyRows, MakeUpForMomentum) {
  OptimizerOptions options;
  options.momentum = 0.8;
  ExpectLazyEqualsDense(options, 1e-5);
}

TEST(LazyRows, MakeUpForMomentumAndDecayTogether) {
  OptimizerOptions options;
  options.momentum = 0.8;
  options.weight_decay = 0.7;
  ExpectLazyEqualsDense(options, 1e-5);
}

TEST(LazyRows, AreSteppedTheSameInACopyOfThem) {
  for (const char* kind : {"sgd", "momentum", "adam"}) {
    SCOPED_TRACE(kind);
    OptimizerOptions options;
    options.optimizer = kind == std::string("adam") ? "adam" : "sgd";
    options.momentum = kind == std::string("momentum") ? 0.8 : 0;
    options.weight_decay = 0.7;
    Trial whole(options, InputRows::kSparse), copied(options, InputRows::kSparse);
    Random random(4);
    const std::vector<std::vector<std::int32_t>> touches = {{1, 4}, {0, 4, 5}, {}, {1, 2, 3}, {4}};
    for (std::size_t update = 1; update <= touches.size(); ++update) {
      const std::vector<std::int32_t>& touched = touches[update - 1];
      const auto g = RandomNumbers(random, touched.size() * kOut), gb = RandomNumbers(random, kOut);
      whole.Step(g, gb, touched, static_cast<std::int64_t>(update));
      copied.StepCopy(g, gb, touched, static_cast<std::int64_t>(update));
    }
    EXPECT_EQ(whole.weights(), copied.weights());
    EXPECT_EQ(whole.bias(), copied.bias());
  }
}

TEST(LazyRows, AreLeftAloneWhileNobodyTouchesThem) {
  OptimizerOptions options;
  options.momentum = 0.8;
  options.weight_decay = 0.7;
  Trial trial(options, InputRows::kSparse);
  const std::vector<float> before = trial.weights();
  trial.Step(std::vector<float>(kOut, 1.0f), std::vector<float>(kOut, 0.0f), {2}, 1);
  trial.Step({}, std::vector<float>(kOut, 0.0f), {}, 2);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(trial.weights()[i] == before[i], i / kOut != 2) << i;
  }
}

TEST(LazyRows, OfAdamDecayForEveryUpdateTheyMissed) {
  OptimizerOptions options;
  options.optimizer = "adam";
  options.weight_decay = 0.5;
  Trial trial(options, InputRows::kSparse);
  const std::vector<float> before = trial.weights();
  // Row 3 is first touched by update 4, with a gradient of zero: only decay can move it.
  trial.Step(std::vector<float>(kOut, 0.0f), std::vector<float>(kOut, 0.0f), {3}, 4);
  for (std::size_t c = 0; c < kOut; ++c) {
    const std::size_t at = 3 * kOut + c;
    EXPECT_NEAR(trial.weights()[at], before[at] * std::pow(1 - kRate * 0.5, 4), 1e-6);
  }
}

TEST(Optimizer, IsDirectOnlyWithoutStateBetweenGradientAndStep) {
  const auto direct = [](const char* kind, double momentum, double decay, InputRows rows) {
    OptimizerOptions options;
    options.optimizer = kind;
    options.momentum = momentum;
    options.weight_decay = decay;
    const bool is_direct = Trial(options, rows).optimizer().direct();
    EXPECT_EQ(IsDirect(options, momentum, rows == InputRows::kSparse ? kIn : 0), is_direct);
    return is_direct;
  };
  EXPECT_TRUE(direct("sgd", 0, 0, InputRows::kDense));
  EXPECT_TRUE(direct("sgd", 0, 0.1, InputRows::kDense));
  EXPECT_TRUE(direct("sgd", 0, 0, InputRows::kSparse));
  EXPECT_FALSE(direct("sgd", 0, 0.1, InputRows::kSparse));
  EXPECT_FALSE(direct("sgd", 0.5, 0, InputRows::kDense));
  EXPECT_FALSE(direct("adam", 0, 0, InputRows::kDense));
}

TEST(Optimizer, RefusesOptionsThatContradictEachOther) {
  OptimizerOptions options;
  options.optimizer = "adam";
  options.momentum = 0.9;
  EXPECT_THROW(options.Validate(), UserError);
  options.optimizer = "rmsprop";
  EXPECT_THROW(options.Validate(), UserError);
  options.optimizer = "sgd";
  EXPECT_NO_THROW(options.Validate());
}

}  // namespace
}  // namespace hogbatch
