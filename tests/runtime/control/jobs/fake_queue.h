// Runs of many jobs in virtual time: workers without arithmetic, and what happened in order.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/schedulers/schedulers.h"
#include "tests/runtime/fakes.h"

namespace hogbatch {

// What was trained of one job, by row.
using TrainedRows = std::map<JobId, std::vector<int>>;

// Notes when tasks begin, in the order of the run.
class QueueWorker : public Worker {
 public:
  QueueWorker(WorkerId id, std::vector<Task>& begun, TrainedRows& trained, FakeOptions options)
      : id_(id), begun_(begun), trained_(trained), options_(std::move(options)) {}

  void Compute(const Task& task, int merge) override {
    if (merge == 0) begun_.push_back(task);
    if (++calls_ == options_.fail_call) throw DeviceError("injected");
  }
  void Commit(const Task& task, int merge) override {
    if (task.kind != TaskKind::kTrain) return;
    const RowRange rows = Part(task.rows, merge, task.merges);
    std::vector<int>& times = trained_[task.job];
    if (std::ssize(times) < rows.end) times.resize(static_cast<std::size_t>(rows.end));
    for (std::int64_t row = rows.begin; row < rows.end; ++row) ++times[row];
  }
  Report Finish(const Task& task) override {
    Report report{.task = task.id, .worker = id_};
    if (task.kind == TaskKind::kTrain) {
      report.updates = task.merges * task.updates_per_merge;
      report.merges = task.hold ? 0 : task.merges;
      report.loss_sum = options_.loss(task);
    }
    if (task.kind == TaskKind::kEvaluate) report.evaluation = options_.evaluate(task);
    return report;
  }

 private:
  WorkerId id_;
  std::vector<Task>& begun_;
  TrainedRows& trained_;
  FakeOptions options_;
  int calls_ = 0;
};

class QueueRecorder : public Recorder {
 public:
  void OnJobBegan(JobId job) override { began.push_back(job); }
  void OnJobWarning(JobId job, std::string_view sentence) override {
    job_warnings.emplace_back(job, sentence);
  }
  void OnJobEnded(JobId job) override { ended.push_back(job); }

  std::vector<JobId> began;
  std::vector<JobId> ended;
  std::vector<std::pair<JobId, std::string>> job_warnings;
};

// A job without evaluation.
struct FakeJob {
  std::int64_t rows = 1000;
  double epochs = 1;
  int priority = 0;
  double arrives = 0;
  int most_workers = 0;
  std::string algorithm = "hogbatch";
  std::int64_t valid_rows = 0;  // more than 0: an evaluation after each epoch
  std::optional<DeviceKind> kind = {};
};

// Set what matters, then Run().
struct FakeQueue {
  std::string scheduler = "fifo";
  SchedulerOptions options = {};
  std::vector<FakeJob> jobs = {};
  std::vector<FakeOptions> workers = std::vector<FakeOptions>(1);
  CostModel cost = {.seconds_per_row = 1e-4};

  std::vector<Task> begun = {};  // all tasks in the order in which they began
  TrainedRows trained = {};
  QueueRecorder recorder = {};
  std::vector<RunResult> results = {};
  std::vector<double> ended_at = {};

  static JobSetup SetupOf(const FakeJob& job) {
    const RunRules rules =
        job.valid_rows > 0 ? Rules(job.epochs) : RunRules{.epochs = job.epochs, .target_loss = {}};
    return {.job = {.model = {},
                    .train_rows = job.rows,
                    .most_workers = job.most_workers,
                    .kind = job.kind,
                    .synchronous = FindAlgorithm(job.algorithm).traits.synchronous,
                    .priority = job.priority,
                    .arrives = job.arrives},
            .rows = {.train = 0, .valid = job.valid_rows, .test = 0},
            .rules = rules,
            .rates = LearningRate({}, job.epochs),
            .algorithm = MakeAlgorithm(job.algorithm, {})};
  }

  void Run() {
    const std::unique_ptr<Scheduler> made = MakeScheduler(scheduler, options);
    RunWith(*made);
  }

  void RunWith(Scheduler& used) {
    Coordinator::QueueSetup setup{.workers = {}};
    std::vector<WorkerFactory> factories;
    std::vector<UpdateCost> costs;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const bool is_cpu = workers[i].kind == DeviceKind::kCpu;
      setup.workers.push_back({.name = (is_cpu ? "cpu." : "cuda.") + std::to_string(i),
                               .description = "fake",
                               .kind = workers[i].kind,
                               .depth = workers[i].depth,
                               .shares_host_memory = is_cpu});
      costs.push_back(workers[i].cost ? workers[i].cost : Constant(cost));
      factories.push_back(
          [this, i] { return std::make_unique<QueueWorker>(i, begun, trained, workers[i]); });
    }
    Coordinator coordinator(used, setup);
    for (const FakeJob& job : jobs) coordinator.Add(SetupOf(job));
    MakeVirtualExecutor(factories, costs)->Run(coordinator, recorder);
    for (const JobId id : coordinator.job_ids()) {
      results.push_back(coordinator.job(id).Result());
      ended_at.push_back(coordinator.job(id).ended_at());
    }
  }

  // The jobs of the training tasks, in the order in which they began.
  std::vector<JobId> Order() const {
    std::vector<JobId> order;
    for (const Task& task : begun) {
      if (task.kind == TaskKind::kTrain) order.push_back(task.job);
    }
    return order;
  }
  // The same, where a job stands once for all of its tasks in a row.
  std::vector<JobId> Turns() const {
    std::vector<JobId> turns = Order();
    turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
    return turns;
  }

  // Every row of every job was trained as often as the job has epochs.
  void ExpectAllTrained() const {
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      SCOPED_TRACE(job);
      const auto found = trained.find(static_cast<JobId>(job));
      ASSERT_NE(found, trained.end());
      ASSERT_EQ(std::ssize(found->second), jobs[job].rows);
      for (const int times : found->second) ASSERT_EQ(times, static_cast<int>(jobs[job].epochs));
    }
  }
};

}  // namespace hogbatch
