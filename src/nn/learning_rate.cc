#include "nn/learning_rate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/words.h"

namespace hogbatch {
namespace {

// Warm-up starts here and not at zero, so that the first task of a run is not wasted.
constexpr double kWarmupStart = 0.01;

// Where a learning rate in proportion to the batch size stops to pay: at 256 rows, a scale of 16
// ended at a lower loss than 8 on covtype, w8a and MNIST; at 1,024 rows, 64 ended higher than 32 on
// covtype.
constexpr double kUsualScaleMax = 16;

constexpr double kSquaredScaleMax = 8;
// The gradient of a sigmoid loss is a sum over the labels, so steps are near their limit already.
constexpr double kSigmoidScaleMax = 2;

// An update that this many others at the largest learning rate have overtaken is not harmed.
constexpr double kHarmless = 4;

double RateFor(Loss loss, OptimizerKind optimizer) {
  const OptimizerInfo& info = InfoOf(optimizer);
  return loss == Loss::kSquared ? info.squared_rate : info.rate;
}

// "0.1 for sgd (0.2 with squared loss) and 0.3 for adam".
std::string UsualRates() {
  std::vector<std::string> rates;
  for (const OptimizerInfo& info : Optimizers()) {
    rates.push_back(fmt::format("{:g} for {}", info.rate, info.name));
    if (info.squared_rate == info.rate) continue;
    rates.back() += fmt::format(" ({:g} with squared loss)", info.squared_rate);
  }
  return fmt::format("{}", fmt::join(rates, " and "));
}

double ScaleMaxFor(Loss loss) {
  if (loss == Loss::kSigmoid) return kSigmoidScaleMax;
  return loss == Loss::kSquared ? kSquaredScaleMax : kUsualScaleMax;
}

}  // namespace

struct LearningRate::Tables {
  static constexpr std::array<NamedValue<Scaling>, 3> kScalings{{
      {"none", Scaling::kNone},
      {"sqrt", Scaling::kSqrt},
      {"linear", Scaling::kLinear},
  }};
  static constexpr std::array<NamedValue<Schedule>, 4> kSchedules{{
      {"constant", Schedule::kConstant},
      {"inverse", Schedule::kInverse},
      {"cosine", Schedule::kCosine},
      {"step", Schedule::kStep},
  }};
};

void LearningRateOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Learning rate");
  visitor.Number(
      "lr", lr, {0, 1e3},
      fmt::format("Learning rate of an update of --lr-batch rows; 0 chooses {}", UsualRates()));
  visitor.Number("lr-batch", lr_batch, {1, 1e9}, "Batch size at which --lr holds");
  visitor.Word("lr-scaling", lr_scaling, WordsOf(LearningRate::Tables::kScalings),
               "How the learning rate scales with the batch size: not at all, with the square root "
               "of rows / lr-batch, or in proportion to it");
  visitor.Number("lr-scale-max", lr_scale_max, {0, 1e6},
                 fmt::format("Largest factor by which the batch size scales the learning rate, up "
                             "or down; 0 chooses {:g}, {:g} for squared and {:g} for sigmoid loss",
                             kUsualScaleMax, kSquaredScaleMax, kSigmoidScaleMax));
  visitor.Flag("no-staleness-correction", no_staleness_correction,
               fmt::format("Do not lower the learning rate of stale updates. By default it falls, "
                           "at most to --lr, once other workers have merged more than {:g} * "
                           "lr-scale-max updates since the read",
                           kHarmless));
  visitor.Word("lr-schedule", lr_schedule, WordsOf(LearningRate::Tables::kSchedules),
               "How the learning rate changes with the epoch: constant, inverse (lr / (1 + "
               "lr-decay * epoch)), cosine (to zero at the last epoch) or step (times lr-decay "
               "every lr-step epochs)");
  visitor.Number("lr-decay", lr_decay, {0, 1e3}, "Decay factor of the inverse and step schedules");
  visitor.Number("lr-step", lr_step, {1e-3, 1e6}, "Epochs between the steps of the step schedule");
  visitor.Number("warmup", warmup, {0, 1e6},
                 fmt::format("Epochs over which the learning rate rises linearly from {:g} times "
                             "its full value to all of it",
                             kWarmupStart));
}

LearningRateOptions LearningRateOptions::ChosenFor(Loss loss, OptimizerKind optimizer) const {
  LearningRateOptions chosen = *this;
  if (lr == 0) chosen.lr = RateFor(loss, optimizer);
  if (lr_scale_max == 0) chosen.lr_scale_max = ScaleMaxFor(loss);
  if (chosen.lr_scale_max < 1) {
    throw UserError(fmt::format("--lr-scale-max must be 0 (choose for me) or at least 1, not {:g}",
                                chosen.lr_scale_max));
  }
  return chosen;
}

LearningRate::LearningRate(const LearningRateOptions& options, double epochs)
    : options_(options),
      epochs_(epochs),
      scaling_(ParseWord("--lr-scaling", options.lr_scaling, Tables::kScalings)),
      schedule_(ParseWord("--lr-schedule", options.lr_schedule, Tables::kSchedules)) {
  if (options_.lr_scale_max == 0) options_.lr_scale_max = kUsualScaleMax;
}

float LearningRate::At(double epoch, std::int64_t rows, double staleness) const {
  return static_cast<float>(options_.lr * ScaleWhenStale(rows, staleness) * Decay(epoch) *
                            Warmup(epoch));
}

double LearningRate::Scale(std::int64_t rows) const {
  if (scaling_ == Scaling::kNone) return 1;
  const double ratio = static_cast<double>(rows) / static_cast<double>(options_.lr_batch);
  const double scale = scaling_ == Scaling::kSqrt ? std::sqrt(ratio) : ratio;
  return std::clamp(scale, 1 / options_.lr_scale_max, options_.lr_scale_max);
}

double LearningRate::ScaleWhenStale(std::int64_t rows, double staleness) const {
  const double scale = Scale(rows);
  return scale <= 1 ? scale : std::max(1.0, scale / StalenessDivisor(staleness));
}

double LearningRate::StalenessDivisor(double staleness) const {
  if (options_.no_staleness_correction) return 1;
  return std::max(1.0, staleness / (kHarmless * options_.lr_scale_max));
}

std::int64_t LearningRate::UpdatesAtOnce(std::int64_t rows, double staleness) const {
  const double largest = options_.lr_scale_max / StalenessDivisor(staleness);
  return std::max<std::int64_t>(1, std::llround(std::floor(largest / Scale(rows) + 1e-9)));
}

double LearningRate::Decay(double epoch) const {
  switch (schedule_) {
    case Schedule::kConstant:
      break;
    case Schedule::kInverse:
      return 1 / (1 + options_.lr_decay * epoch);
    case Schedule::kCosine:
      if (epochs_ <= 0) break;
      return 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, epoch / epochs_)));
    case Schedule::kStep:
      return std::pow(options_.lr_decay, std::floor(epoch / options_.lr_step));
  }
  return 1;
}

double LearningRate::Warmup(double epoch) const {
  if (epoch >= options_.warmup) return 1;
  return kWarmupStart + (1 - kWarmupStart) * epoch / options_.warmup;
}

double ExplicitMomentum(double total, int asynchronous_workers) {
  Check(asynchronous_workers >= 1, "momentum is shared by at least one worker");
  return std::max(0.0, 1 - (1 - total) * asynchronous_workers);
}

}  // namespace hogbatch
