#include "nn/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/words.h"

namespace hogbatch {
namespace {

// Warm-up begins here and not at nothing, so that the first task of a run is not wasted.
constexpr double kWarmupStart = 0.01;

// Where rates in proportion to the rows stop being worth it: at 256 rows 16 times the rate ended
// lower than 8 times on covtype, w8a and MNIST, at 1,024 rows 64 times higher than 32 on covtype.
constexpr double kUsualScaleMax = 16;

double ScaleMaxFor(Loss loss) {
  // Steps of a sigmoid loss follow the sum over its labels and are near their limit as they are.
  if (loss == Loss::kSigmoid) return 2;
  return loss == Loss::kSquared ? 8 : kUsualScaleMax;
}

}  // namespace

// The words of an option and what they mean, beside each other.
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
  visitor.Number("lr", lr, {0, 1e3},
                 "learning rate of an update of --lr-batch rows; 0 chooses 0.05, and 0.005 for "
                 "squared loss");
  visitor.Number("lr-batch", lr_batch, {1, 1e9}, "rows of an update at which --lr holds");
  visitor.Word("lr-scaling", lr_scaling, WordsOf(LearningRate::Tables::kScalings),
               "how the rate follows the rows of an update: not at all, with the square root of "
               "rows / lr-batch, or in proportion");
  visitor.Number("lr-scale-max", lr_scale_max, {0, 1e6},
                 "the rate is never scaled by more than this, up or down; 0 chooses 16, 8 for "
                 "squared and 2 for sigmoid loss");
  visitor.Flag("no-staleness-correction", no_staleness_correction,
               "scale rates of large updates in full; without this flag they are lowered, down to "
               "--lr, where others take more than 4 * lr-scale-max steps at --lr between their "
               "read and their merge");
  visitor.Word("lr-schedule", lr_schedule, WordsOf(LearningRate::Tables::kSchedules),
               "how the rate follows the epoch: constant, inverse (rate / (1 + lr-decay * epoch)), "
               "cosine (to zero at the last epoch) or step (times lr-decay every lr-step epochs)");
  visitor.Number("lr-decay", lr_decay, {0, 1e3}, "strength of the inverse and step schedules");
  visitor.Number("lr-step", lr_step, {1e-3, 1e6}, "epochs between the steps of the step schedule");
  visitor.Number("warmup", warmup, {0, 1e6},
                 "epochs over which the rate rises in a straight line from a hundredth");
}

// The gradient of squared error has no bound, and its curvature grows with the width of the last
// layer: what is a bold rate for the other losses throws it off.
LearningRateOptions LearningRateOptions::ChosenFor(Loss loss) const {
  LearningRateOptions chosen = *this;
  if (lr == 0) chosen.lr = loss == Loss::kSquared ? 0.005 : 0.05;
  if (lr_scale_max == 0) chosen.lr_scale_max = ScaleMaxFor(loss);
  if (chosen.lr_scale_max < 1) {
    throw UserError("--lr-scale-max is 1 or more, or 0 to have it chosen");
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
  return scale <= 1 ? scale : std::max(1.0, scale / Late(staleness));
}

double LearningRate::Late(double staleness) const {
  constexpr double kHarmless = 4;  // of the largest steps
  if (options_.no_staleness_correction) return 1;
  return std::max(1.0, staleness / (kHarmless * options_.lr_scale_max));
}

std::int64_t LearningRate::UpdatesAtOnce(std::int64_t rows, double staleness) const {
  const double most = options_.lr_scale_max / Late(staleness) / Scale(rows);
  return std::max<std::int64_t>(1, std::llround(std::floor(most + 1e-9)));
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
