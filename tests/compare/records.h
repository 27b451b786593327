// Runs that a test makes up.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compare/runs/run.h"

namespace hogbatch::compare {

inline RunRecord MakeRun(Phase phase, std::string side, std::int64_t batch, double lr,
                         std::vector<CurvePoint> curve, std::int64_t repeat = 0) {
  return {.plan = {.phase = phase,
                   .side = std::move(side),
                   .variant = "v",
                   .batch = batch,
                   .lr = lr,
                   .seed = 1,
                   .repeat = repeat,
                   .seconds = 10,
                   .epochs = 0,
                   .eval_every = 0.5,
                   .extra_seconds = 0,
                   .stop = {}},
          .outcome = Outcome::kDone,
          .message = {},
          .wall_seconds = 12,
          .cpu_seconds = 20,
          .others_cpu = 0.01,
          .peak_bytes = 1000,
          .seconds = 11,
          .train_seconds = 10,
          .examples_per_second = 500,
          .metric = "test_accuracy",
          .curve = std::move(curve),
          .command = "train"};
}

// A straight fall of the loss from `from` at 0 seconds to `to` at 10 seconds.
inline std::vector<CurvePoint> Fall(double from, double to) {
  std::vector<CurvePoint> curve;
  for (int i = 0; i <= 10; ++i) {
    curve.push_back({.seconds = static_cast<double>(i),
                     .epoch = 0.1 * i,
                     .loss = from + (to - from) * i / 10,
                     .metric = 0.5 + 0.01 * i});
  }
  return curve;
}

inline RunRecord WithRate(RunRecord run, double examples_per_second) {
  run.examples_per_second = examples_per_second;
  return run;
}

inline RunRecord Failed(RunRecord run, Outcome outcome, std::string message) {
  run.outcome = outcome;
  run.message = std::move(message);
  return run;
}

}  // namespace hogbatch::compare
