// Stand-ins for tests in virtual time: workers without arithmetic, and an observer that keeps what
// it hears.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "runtime/coordinator.h"
#include "runtime/executor.h"

namespace hogbatch {

// What happened in a run, in order.
struct Ledger {
  std::vector<Task> finished;
  std::vector<int> trained;  // times each row was trained on
};

struct FakeOptions {
  int fail_call = 0;  // the n-th Compute from 1 throws; 0: never
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
  void Commit(const Task& task, int update) override {
    if (task.kind != TaskKind::kTrain) return;
    const RowRange rows = Part(task.rows, update, task.updates);
    if (ledger_.trained.size() < static_cast<std::size_t>(rows.end)) {
      ledger_.trained.resize(static_cast<std::size_t>(rows.end), 0);
    }
    uncounted_.push_back(rows);
  }
  // A row counts when its task's report goes out: a failed task is trained again by somebody else.
  Report Finish(const Task& task) override {
    for (const RowRange& rows : uncounted_) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        ++ledger_.trained[static_cast<std::size_t>(row)];
      }
    }
    uncounted_.clear();
    ledger_.finished.push_back(task);
    Report report{.task = task.id, .worker = id_, .updates = task.updates};
    if (task.kind == TaskKind::kTrain) report.loss_sum = options_.loss(task);
    if (task.kind == TaskKind::kEvaluate) report.evaluation = options_.evaluate(task);
    return report;
  }

 private:
  WorkerId id_;
  Ledger& ledger_;
  FakeOptions options_;
  int calls_ = 0;
  std::vector<RowRange> uncounted_;
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

  std::vector<Progress> reports;
  std::vector<std::string> failures;
};

// A run of fake workers: set what matters, then Run().
struct FakeRun {
  std::string algorithm = "hogbatch";
  AlgorithmOptions algorithm_options = {};
  SplitRows rows = {.train = 10000, .valid = 1000, .test = 0};
  RunRules rules = {.epochs = 2, .target_loss = {}};
  std::vector<CostModel> costs = {{.seconds_per_row = 1e-4}, {.seconds_per_row = 1e-4}};
  std::vector<FakeOptions> workers = {};

  Ledger ledger = {};
  Recorder recorder = {};

  RunResult Run() {
    workers.resize(costs.size());
    const std::unique_ptr<Algorithm> chosen = MakeAlgorithm(algorithm, algorithm_options);
    Coordinator::Setup setup{.job = {.id = 0, .model = {}, .train_rows = rows.train},
                             .rows = rows,
                             .rules = rules,
                             .rates = RatePlan({}, rules.epochs),
                             .workers = {}};
    std::vector<WorkerFactory> factories;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      setup.workers.push_back({.name = "cpu." + std::to_string(i), .description = "fake"});
      factories.push_back([this, i] {
        return std::make_unique<FakeWorker>(static_cast<WorkerId>(i), ledger, workers[i]);
      });
    }
    Coordinator coordinator(*chosen, setup);
    MakeVirtualExecutor(factories, costs)->Run(coordinator, recorder);
    saved_snapshot = coordinator.saved_snapshot();
    return coordinator.Result();
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
