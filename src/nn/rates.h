// The learning rate over a run, and the part of momentum that asynchrony does not already supply.
#pragma once

#include <cstdint>
#include <string>

#include "core/options.h"
#include "nn/model_spec.h"

namespace hogbatch {

struct RateOptions {
  double lr = 0;
  std::int64_t lr_batch = 16;
  std::string lr_scaling = "sqrt";
  double lr_scale_max = 8;
  std::string lr_schedule = "cosine";
  double lr_decay = 0.1;
  double lr_step = 10;
  double warmup = 0;

  void Visit(OptionVisitor& visitor);

  // With the rate that suits the loss where none was asked for (0).
  RateOptions ChosenFor(Loss loss) const;
};

// How the rate follows the batch and the epoch. A value: the coordinator asks it for every task.
class RatePlan {
 public:
  // `epochs`: the planned length, which the cosine reaches zero at.
  RatePlan(const RateOptions& options, double epochs);

  // The rate of an update of `rows` rows at `epoch` (real, from 0).
  float At(double epoch, std::int64_t rows) const;

  struct Tables;  // the words of the options

 private:
  enum class Scaling : std::uint8_t { kNone, kSqrt, kLinear };
  enum class Schedule : std::uint8_t { kConstant, kInverse, kCosine, kStep };

  double Scale(std::int64_t rows) const;
  double Decay(double epoch) const;
  double Warmup(double epoch) const;

  RateOptions options_;
  double epochs_;
  Scaling scaling_;
  Schedule schedule_;
};

// n asynchronous workers act like momentum 1 - 1/n; this is what remains to be applied explicitly
// so that the total is `total`: max(0, 1 - (1 - total) · n). A heuristic.
double ExplicitMomentum(double total, int asynchronous_workers);

}  // namespace hogbatch
