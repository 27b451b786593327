// Stand-ins for tests in virtual time: workers without arithmetic, and an observer that keeps all
// reports.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "runtime/control/coordinator.h"
#include "runtime/executors/executor.h"

namespace hogbatch {

// What happened in a run, in order.
struct Ledger {
  std::vector<Task> finished;
  std::vector<int> trained;  // times each row was trained on
};

struct FakeOptions {
  DeviceKind kind = DeviceKind::kCpu;
  int depth = 1;
  int fail_call = 0;                // the n-th Compute from 1 throws; 0: never
  std::int64_t max_batch_size = 0;  // that fits its memory, known before the run
  std::int64_t room = 0;            // the same, found out when a larger batch is asked for
  UpdateCost cost = {};             // instead of FakeRun::costs
  std::int64_t staleness = 0;       // of each merge
  std::function<EvaluationSums(const Task&)> evaluate = [](const Task& task) {
    return EvaluationSums{.rows = task.rows.size(), .loss = static_cast<double>(task.rows.size())};
  };
  std::function<double(const Task&)> loss = [](const Task& task) {
    return static_cast<double>(task.rows.size());
  };
};

// Takes tasks and keeps the ledger; changes no model.
class FakeWorker : public Worker {
 public:
  FakeWorker(WorkerId id, Ledger& ledger, FakeOptions options)
      : id_(id), ledger_(ledger), options_(std::move(options)) {}

  void Compute(const Task&, int) override {
    if (++calls_ == options_.fail_call) throw DeviceError("injected");
  }
  void Commit(const Task& task, int merge) override {
    if (task.kind != TaskKind::kTrain) return;
    const RowRange rows = Part(task.rows, merge, task.merges);
    if (ledger_.trained.size() < static_cast<std::size_t>(rows.end)) {
      ledger_.trained.resize(rows.end, 0);
    }
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      ++ledger_.trained[row];
    }
  }
  Report Finish(const Task& task) override {
    ledger_.finished.push_back(task);
    Report report{.task = task.id, .worker = id_, .updates = task.merges * task.updates_per_merge};
    if (task.kind == TaskKind::kTrain) {
      report.loss_sum = options_.loss(task);
      for (int i = 0; i < task.merges; ++i) report.staleness.Add(options_.staleness);
      report.merges = task.merges;
      MeetRoom(task, report);
    }
    if (task.kind == TaskKind::kEvaluate) report.evaluation = options_.evaluate(task);
    return report;
  }

 private:
  // A batch that is too large for the device is split into several updates.
  void MeetRoom(const Task& task, Report& report) const {
    if (options_.room == 0 || task.rows.size() <= options_.room * task.merges) return;
    report.updates = static_cast<std::int32_t>((task.rows.size() - 1) / options_.room + 1);
    report.max_batch_size = options_.room;
  }

  WorkerId id_;
  Ledger& ledger_;
  FakeOptions options_;
  int calls_ = 0;
};

class Recorder : public RunObserver {
 public:
  void OnProgress(const Progress& progress) override { reports.push_back(progress); }
  void OnWorkerFailed(std::string_view worker, std::string_view what) override {
    failures.push_back(std::string(worker) + ": " + std::string(what));
  }
  std::vector<Evaluation> Evaluations() const {
    std::vector<Evaluation> all;
    for (const Progress& report : reports) {
      if (report.evaluation) all.push_back(*report.evaluation);
    }
    return all;
  }

  void OnWarning(std::string_view sentence) override { warnings.emplace_back(sentence); }

  std::vector<Progress> reports;
  std::vector<std::string> failures;
  std::vector<std::string> warnings;
};

inline UpdateCost Constant(const CostModel& cost) {
  return [cost](std::int64_t rows, double) {
    return cost.seconds_per_update + cost.seconds_per_row * static_cast<double>(rows);
  };
}

enum class Time : std::uint8_t { kVirtual, kReal };

// Drives workers to the end of a run; costs matter in virtual time.
inline void Drive(Time time, Coordinator& coordinator, const std::vector<WorkerFactory>& workers,
                  const std::vector<CostModel>& costs, RunObserver& observer) {
  const std::unique_ptr<Executor> executor = time == Time::kVirtual
                                                 ? MakeVirtualExecutor(workers, costs)
                                                 : MakeThreadExecutor(workers, Pinning::kNone);
  executor->Run(coordinator, observer);
}

// An evaluation after every epoch and a report every two seconds.
inline RunRules Rules(double epochs) {
  return {.epochs = epochs, .target_loss = {}, .eval_every = 1, .report_every = 2};
}

// A run of fake workers: set what matters, then Run().
struct FakeRun {
  std::string algorithm = "hogbatch";
  AlgorithmOptions algorithm_options = {};
  SplitRows rows = {.train = 10000, .valid = 1000, .test = 0};
  RunRules rules = Rules(2);
  LearningRateOptions rates = {};
  std::int64_t merge_rows = 1;
  std::vector<CostModel> costs = {{.seconds_per_row = 1e-4}, {.seconds_per_row = 1e-4}};
  std::vector<FakeOptions> workers = {};
  std::optional<SplitRows> evaluated = {};  // instead of all rows
  Algorithm* own_algorithm = nullptr;       // instead of the one with that name

  Ledger ledger = {};
  Recorder recorder = {};

  RunResult Run() {
    workers.resize(costs.size());
    JobSetup setup{.job = {.id = 0,
                           .model = {},
                           .train_rows = rows.train,
                           .synchronous = FindAlgorithm(algorithm).traits.synchronous},
                   .rows = evaluated.value_or(rows),
                   .rules = rules,
                   .rates = LearningRate(rates, rules.epochs),
                   .algorithm = {std::shared_ptr<void>(), own_algorithm},  // not owned
                   .merge_rows = merge_rows};
    if (!own_algorithm) setup.algorithm = MakeAlgorithm(algorithm, algorithm_options);
    std::vector<DeviceInfo> devices;
    std::vector<WorkerFactory> factories;
    std::vector<UpdateCost> update_costs;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      devices.push_back(Info(i));
      setup.max_batch_size.push_back(workers[i].max_batch_size);
      update_costs.push_back(workers[i].cost ? workers[i].cost : Constant(costs[i]));
      factories.push_back([this, i] {
        return std::make_unique<FakeWorker>(static_cast<WorkerId>(i), ledger, workers[i]);
      });
    }
    Coordinator coordinator(setup, devices);
    MakeVirtualExecutor(factories, update_costs)->Run(coordinator, recorder);
    saved_snapshot = coordinator.saved_snapshot();
    return coordinator.Result();
  }

  // cpu.0, cpu.1, cuda.0: each kind of device is counted from 0.
  DeviceInfo Info(std::size_t worker) const {
    const DeviceKind kind = workers[worker].kind;
    const auto before =
        std::count_if(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(worker),
                      [&](const FakeOptions& other) { return other.kind == kind; });
    const bool is_cpu = kind == DeviceKind::kCpu;
    return {.name = (is_cpu ? "cpu." : "cuda.") + std::to_string(before),
            .description = "fake",
            .kind = kind,
            .depth = workers[worker].depth,
            .shares_host_memory = is_cpu};
  }

  std::optional<SnapshotId> saved_snapshot = {};

  // Every training row was trained on exactly `times` times.
  void ExpectEveryRowTrained(int times) const {
    ASSERT_EQ(ledger.trained.size(), static_cast<std::size_t>(rows.train));
    for (std::size_t row = 0; row < ledger.trained.size(); ++row) {
      ASSERT_EQ(ledger.trained[row], times) << "row " << row;
    }
  }
};

}  // namespace hogbatch
