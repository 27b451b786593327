// The learning rate over a run, and the part of momentum that asynchrony does not already supply.
#pragma once

#include <cstdint>
#include <string>

#include "core/options.h"
#include "nn/model_spec.h"

namespace hogbatch {

struct LearningRateOptions {
  double lr = 0;
  std::int64_t lr_batch = 16;
  std::string lr_scaling = "linear";
  double lr_scale_max = 0;
  bool no_staleness_correction = false;
  std::string lr_schedule = "cosine";
  double lr_decay = 0.1;
  double lr_step = 10;
  double warmup = 0;

  void Visit(OptionVisitor& visitor);

  // With the rate and the largest scale that suit the loss where none was asked for (0). UserError
  // for a scale below 1.
  LearningRateOptions ChosenFor(Loss loss) const;
};

// How the rate follows the batch and the epoch. A value: the coordinator asks it for every task.
class LearningRate {
 public:
  // `epochs`: the planned length, which the cosine reaches zero at.
  LearningRate(const LearningRateOptions& options, double epochs);

  // The rate of an update of `rows` rows at `epoch` (real, from 0) that others come before, which
  // move the model as far as so many at --lr. Once that is further than a few of the largest
  // steps, what a large batch has on top of --lr is taken from it by as much: it would be a bold
  // step from where the model no longer is.
  float At(double epoch, std::int64_t rows, double staleness = 0) const;

  // How many times --lr the rate of such an update is, if nothing comes before it.
  double Scale(std::int64_t rows) const;

  // How many updates of `rows` rows may come into the model at once, so late: together they are no
  // bolder than one large update.
  std::int64_t UpdatesAtOnce(std::int64_t rows, double staleness) const;

  struct Tables;  // the words of the options

 private:
  enum class Scaling : std::uint8_t { kNone, kSqrt, kLinear };
  enum class Schedule : std::uint8_t { kConstant, kInverse, kCosine, kStep };

  double ScaleWhenStale(std::int64_t rows, double staleness) const;
  // What is on top of --lr is divided by this.
  double Late(double staleness) const;
  double Decay(double epoch) const;
  double Warmup(double epoch) const;

  LearningRateOptions options_;
  double epochs_;
  Scaling scaling_;
  Schedule schedule_;
};

// n asynchronous workers act like momentum 1 - 1/n; this is what remains to be applied explicitly
// so that the total is `total`: max(0, 1 - (1 - total) · n). A heuristic.
double ExplicitMomentum(double total, int asynchronous_workers);

}  // namespace hogbatch
