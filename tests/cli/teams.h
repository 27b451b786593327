// Reports of runs with two teams, for tests of how they are shown.
#pragma once

#include <utility>
#include <vector>

#include "runtime/control/progress.h"

namespace hogbatch {

inline IndexedVector<TeamId, TeamProgress> TeamsOf(std::vector<TeamProgress> teams) {
  return IndexedVector<TeamId, TeamProgress>(std::move(teams));
}

// Even shares, the cores at their maximum.
inline Progress CoresAndGpu() {
  Progress progress;
  progress.train_seconds = 8;
  progress.epoch = 1.5;
  progress.updates = 10'000;
  progress.examples_per_second = 52'300;
  progress.updates_per_second = 3'270;
  progress.running_loss = 0.5;
  progress.seconds_left = 80;
  progress.workers = {
      {.name = "cpu.0", .updates = 5'200, .batch_size = 64, .busy_fraction = 0.5, .failure = ""},
      {.name = "opencl.0",
       .updates = 4'800,
       .batch_size = 128,
       .busy_fraction = 0.75,
       .failure = ""}};
  progress.teams = TeamsOf({{.name = "cpu",
                             .updates = 5'200,
                             .update_share = 0.52,
                             .batch_size = 64,
                             .rows_per_second = 41'600},
                            {.name = "opencl.0",
                             .kind = DeviceKind::kOpenCl,
                             .updates = 4'800,
                             .update_share = 0.48,
                             .batch_size = 128,
                             .rows_per_second = 76'800}});
  progress.bound_teams = {{.team = 0,
                           .by = BoundTeam::By::kMax,
                           .batch_size = 64,
                           .share_of_reviews = 0.97,
                           .count_share = 0.52}};
  progress.staleness.Add(0);
  progress.staleness.Add(2);
  progress.staleness.Add(3);
  progress.staleness.Add(9);
  progress.beta = 0.99;
  return progress;
}

// The cores lead though they are at their maximum, and the GPU lags at its minimum.
inline Progress Unbalanced() {
  Progress progress = CoresAndGpu();
  progress.teams[0].update_share = 0.9;
  progress.teams[1].update_share = 0.1;
  progress.teams[1].batch_size = 64;
  progress.bound_teams[0].count_share = 0.9;
  progress.bound_teams.push_back({.team = 1,
                                  .by = BoundTeam::By::kMin,
                                  .batch_size = 64,
                                  .share_of_reviews = 0.95,
                                  .count_share = 0.1});
  return progress;
}

}  // namespace hogbatch
