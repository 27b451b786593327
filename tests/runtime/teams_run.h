// Runs of teams in virtual time: CPU threads and GPUs that charge for their updates, and what came
// of it.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "tests/runtime/fakes.h"

namespace hogbatch {

// So many seconds of training without evaluation. The first team added is team 0, and so on.
inline FakeRun TeamsRun(double seconds) {
  FakeRun run{.algorithm = "adaptive",
              .rows = {.train = 200000, .valid = 0, .test = 0},
              .rules = {.epochs = 1e6,
                        .max_seconds = seconds,
                        .target_loss = {},
                        .eval_every = 1e6,
                        .report_every = seconds / 1000},
              .costs = {}};
  run.evaluated = SplitRows{};
  return run;
}

inline void AddThreads(FakeRun& run, int count, const CostModel& cost) {
  run.costs.insert(run.costs.end(), static_cast<std::size_t>(count), cost);
  run.workers.resize(run.costs.size());
}

inline FakeOptions& AddGpu(FakeRun& run, const CostModel& cost) {
  run.costs.push_back(cost);
  run.workers.resize(run.costs.size());
  run.workers.back().kind = DeviceKind::kCuda;
  run.workers.back().depth = 2;
  return run.workers.back();
}

// A row costs the GPU a hundredth, an update more.
inline constexpr CostModel kThread = {.seconds_per_row = 1e-4, .seconds_per_update = 2e-4};
inline constexpr CostModel kGpu = {.seconds_per_row = 1e-6, .seconds_per_update = 5e-4};

// Eight threads in ranges that leave room for balance with any of the GPUs.
inline FakeRun EightThreads(double seconds) {
  FakeRun run = TeamsRun(seconds);
  run.algorithm_options.cpu_batch = {1, 1024};
  run.algorithm_options.gpu_batch = {4, 8192};
  AddThreads(run, 8, kThread);
  return run;
}

inline UpdateCost SlowerFrom(double time, double factor, const CostModel& cost) {
  return [=](std::int64_t rows, double now) {
    return Constant(cost)(rows, now) * (now < time ? 1 : factor);
  };
}

// Updates that would begin while it stands still wait for its end.
inline UpdateCost StoppedBetween(double begin, double end, const CostModel& cost) {
  return [=](std::int64_t rows, double now) {
    return Constant(cost)(rows, now) + (now >= begin && now < end ? end - now : 0);
  };
}

inline const IndexedVector<TeamId, TeamProgress>& TeamsAt(const FakeRun& run, double time) {
  const auto found = std::find_if(run.recorder.reports.begin(), run.recorder.reports.end(),
                                  [&](const Progress& report) { return report.seconds >= time; });
  return found == run.recorder.reports.end() ? run.recorder.reports.back().teams : found->teams;
}

// The teams' shares of the updates made between two times.
inline std::vector<double> SharesBetween(const FakeRun& run, double begin, double end) {
  const IndexedVector<TeamId, TeamProgress>& before = TeamsAt(run, begin);
  const IndexedVector<TeamId, TeamProgress>& after = TeamsAt(run, end);
  std::vector<double> shares;
  double all = 0;
  for (const TeamId id : before.ids()) {
    shares.push_back(static_cast<double>(after[id].updates - before[id].updates));
    all += shares.back();
  }
  for (double& share : shares) share /= all;
  return shares;
}

// The same after the first tenth of the run, when the sizes have found their places.
inline std::vector<double> SettledShares(const FakeRun& run) {
  return SharesBetween(run, run.rules.max_seconds / 10, run.rules.max_seconds);
}

// Keeps the sizes that another algorithm gave the teams.
class Watched : public Algorithm {
 public:
  explicit Watched(std::unique_ptr<Algorithm> inner) : inner_(std::move(inner)) {}

  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    std::optional<Assignment> assignment = inner_->Assign(idle, table);
    if (assignment) {
      std::vector<std::int64_t>& sizes = sizes_[idle.team];
      if (sizes.empty() || sizes.back() != assignment->batch_size) {
        sizes.push_back(assignment->batch_size);
      }
    }
    return assignment;
  }
  void Observe(const Outcome& outcome) override { inner_->Observe(outcome); }
  std::vector<BoundTeam> bound_teams() const override { return inner_->bound_teams(); }

  // Each size a team had, one after another.
  const std::vector<std::int64_t>& sizes(TeamId team) const { return sizes_.at(team); }
  std::int64_t changes() const {
    std::int64_t all = 0;
    for (const auto& [team, sizes] : sizes_) all += std::ssize(sizes) - 1;
    return all;
  }

 private:
  std::unique_ptr<Algorithm> inner_;
  std::map<TeamId, std::vector<std::int64_t>> sizes_;
};

}  // namespace hogbatch
