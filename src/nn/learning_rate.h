// The learning rate over a run, and the part of momentum that asynchrony does not already supply.
#pragma once

#include <cstdint>
#include <string>

#include "core/options.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"

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

  // Replaces lr and lr_scale_max where they are 0 by defaults for the loss and the optimiser.
  // UserError for an lr_scale_max below 1.
  LearningRateOptions ChosenFor(Loss loss, OptimizerKind optimizer) const;
};

// The learning rate by batch size, epoch and staleness. It scales with the batch size, except for
// stale updates: those whose base weights have since received many merges from other workers. A
// large step from weights that are no longer there does more harm than good.
//
// `rows` is the batch size of an update. `staleness` is how far other workers move the model
// between the read and the merge of the update, counted in updates at --lr.
class LearningRate {
 public:
  // `epochs`: the planned length of the run, where the cosine schedule reaches zero.
  LearningRate(const LearningRateOptions& options, double epochs);

  double base() const { return options_.lr; }  // --lr

  // The learning rate of an update at `epoch` (a real number from 0).
  float At(double epoch, std::int64_t rows, double staleness = 0) const;

  // By how much the batch size scales --lr if the update is not stale.
  double Scale(std::int64_t rows) const;

  // How many updates a device may merge at once: together they move the model no further than one
  // update at the largest learning rate for this staleness.
  std::int64_t UpdatesAtOnce(std::int64_t rows, double staleness) const;

  struct Tables;  // the words of the options

 private:
  enum class Scaling : std::uint8_t { kNone, kSqrt, kLinear };
  enum class Schedule : std::uint8_t { kConstant, kInverse, kCosine, kStep };

  double ScaleWhenStale(std::int64_t rows, double staleness) const;
  // Divides a scale above 1; 1 if the update is not stale.
  double StalenessDivisor(double staleness) const;
  double Decay(double epoch) const;
  double Warmup(double epoch) const;

  LearningRateOptions options_;
  double epochs_;
  Scaling scaling_;
  Schedule schedule_;
};

// The momentum to apply explicitly so that the total is `total`: n asynchronous workers already act
// like momentum 1 - 1/n, which leaves max(0, 1 - (1 - total) · n). A heuristic.
double ExplicitMomentum(double total, int asynchronous_workers);

}  // namespace hogbatch
