// Runs of many jobs with real workers: real arithmetic, on threads or in virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/schedulers/schedulers.h"
#include "cpu/cpu.h"
#include "device/simulated.h"
#include "nn/initialize.h"
#include "nn/lanes/lanes.h"
#include "runtime/store/job_memories.h"
#include "tests/runtime/control/jobs/fake_queue.h"
#include "tests/runtime/small_problem.h"
#include "tests/support/strict_device.h"

namespace hogbatch {

struct RealLane {
  double lr = 0.05;
  OptimizerOptions optimizer = {};
  std::uint64_t seed = 3;  // of its initial weights
  std::optional<double> target_loss = {};
  std::int64_t patience = 0;
  std::vector<float> class_weights = {};
};

struct RealJob {
  std::int64_t rows = 600;  // and a tenth of that for validation
  double epochs = 2;
  std::vector<std::int64_t> hidden = {12};
  OptimizerOptions optimizer = {};
  bool exclusive = false;
  std::optional<DeviceKind> kind = {};
  std::string algorithm = "hogbatch";
  Storage storage = Storage::kDense;
  double arrives = 0;
  double lr = 0.05;
  std::uint64_t seed = 3;                        // of the order of its rows
  std::optional<std::uint64_t> start_seed = {};  // of its initial weights; none: the same
  std::vector<RealLane> lanes = {};              // instead of one network
  std::vector<float> class_weights = {};
};

// Rows of each job that came into its model, or were lost with a merge that broke off.
class JobLedger {
 public:
  void Train(const Task& task, RowRange rows) { Enter(trained_, task.job, rows); }
  void Lose(const Task& task, RowRange rows) { Enter(lost_, task.job, rows); }
  void Revoke(const Task& task, RowRange rows) { Enter(trained_, task.job, rows, -1); }
  std::int64_t trained(JobId job) { return Sum(trained_[job]); }
  std::int64_t lost(JobId job) { return Sum(lost_[job]); }
  // How often each row was trained or lost.
  std::vector<int> times(JobId job) {
    std::vector<int> all = trained_[job];
    all.resize(std::max(all.size(), lost_[job].size()));
    for (std::size_t i = 0; i < lost_[job].size(); ++i) all[i] += lost_[job][i];
    return all;
  }

 private:
  void Enter(TrainedRows& book, JobId job, RowRange rows, int times_more = 1) {
    const std::scoped_lock lock(mutex_);
    std::vector<int>& times = book[job];
    if (std::ssize(times) < rows.end) times.resize(static_cast<std::size_t>(rows.end));
    for (std::int64_t row = rows.begin; row < rows.end; ++row) times[row] += times_more;
  }
  static std::int64_t Sum(const std::vector<int>& times) {
    std::int64_t sum = 0;
    for (const int n : times) sum += n;
    return sum;
  }

  std::mutex mutex_;
  TrainedRows trained_, lost_;
};

// A worker whose every training call is entered in the books of its job.
class BookedWorker : public Worker {
 public:
  BookedWorker(std::unique_ptr<Worker> inner, JobLedger& ledger)
      : inner_(std::move(inner)), ledger_(ledger) {}

  void Prepare() override { inner_->Prepare(); }
  void Compute(const Task& task, int merge) override { Call(task, merge, &Worker::Compute); }
  void Commit(const Task& task, int merge) override {
    Call(task, merge, &Worker::Commit);
    if (Counts(task)) ledger_.Train(task, Part(task.rows, merge, task.merges));
  }
  bool merge_is_torn() const override { return inner_->merge_is_torn(); }
  // Of a job that has failed the router only seems to commit.
  Report Finish(const Task& task) override {
    const Report report = inner_->Finish(task);
    if (!report.failure || !Counts(task)) return report;
    for (int merge = report.failure->merges_done; merge < task.merges; ++merge) {
      ledger_.Revoke(task, Part(task.rows, merge, task.merges));
    }
    const std::optional<Failure::Torn>& torn = report.failure->torn;
    if (torn && torn->task == task.id) {
      ledger_.Lose(task, Part(task.rows, torn->merge, task.merges));
    }
    return report;
  }

 private:
  static bool Counts(const Task& task) { return task.kind == TaskKind::kTrain && !task.hold; }
  void Call(const Task& task, int merge, void (Worker::*call)(const Task&, int)) {
    try {
      (inner_.get()->*call)(task, merge);
    } catch (...) {
      if (Counts(task) && inner_->merge_is_torn()) {
        ledger_.Lose(task, Part(task.rows, merge, task.merges));
      }
      throw;
    }
  }

  std::unique_ptr<Worker> inner_;
  JobLedger& ledger_;
};

// Set what matters, then Run().
struct QueueRun {
  Time time = Time::kVirtual;
  std::string scheduler = "fifo";
  std::vector<RealJob> jobs = {};
  int cores = 2;
  int distant = 0;             // devices that share no host memory, after the cores
  std::int64_t fail_call = 0;  // of the last worker's device
  sim::Fault fault = sim::Fault::kDevice;
  std::vector<double> seconds_per_row = {};  // in virtual time; absent: 1e-4

  QueueRecorder recorder = {};
  std::unique_ptr<JobLedger> ledger = std::make_unique<JobLedger>();
  std::vector<RunResult> results = {};
  std::vector<std::vector<float>> models = {};     // at the end
  std::vector<std::vector<float>> snapshots = {};  // the best; empty: none

  static constexpr std::int64_t kFeatures = 10;
  static ModelSpec ModelOfJob(const RealJob& job) {
    return {.inputs = kFeatures,
            .hidden = job.hidden,
            .outputs = 2,
            .activation = Activation::kRelu,
            .sparse_input = job.storage == Storage::kSparse,
            .lanes = std::max<std::int64_t>(1, std::ssize(job.lanes))};
  }

  void Run() {
    Coordinator::QueueSetup setup{.workers = {}};
    std::vector<DeviceFactory> devices;
    for (int i = 0; i < cores + distant; ++i) AddDevice(i, setup.workers, devices);
    const std::unique_ptr<Scheduler> made =
        MakeScheduler(scheduler, {.short_seconds = time == Time::kVirtual ? 0.02 : 0.002});
    Coordinator coordinator(*made, setup);
    JobMemories memories;
    std::vector<TrainingInput> inputs;
    inputs.reserve(jobs.size());
    for (const RealJob& job : jobs) {
      inputs.push_back(MakeInput(job.rows, job.rows / 10, kFeatures, job.storage));
      const JobId id = coordinator.Add(SetupOf(job));
      memories.Add(id, MemoryOf(job, inputs.back()));
    }
    std::vector<WorkerFactory> workers;
    std::vector<CostModel> costs;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      costs.push_back({.seconds_per_row = i < seconds_per_row.size() ? seconds_per_row[i] : 1e-4});
      workers.push_back([this, i, make = devices[i], &memories] {
        return std::make_unique<BookedWorker>(MakeJobRouter(i, make(), memories, WritesIn(time)),
                                              *ledger);
      });
    }
    Drive(time, coordinator, workers, costs, recorder);
    for (const JobId id : coordinator.job_ids()) Keep(coordinator.job(id), *memories.Get(id));
  }

 private:
  void AddDevice(int i, std::vector<DeviceInfo>& infos, std::vector<DeviceFactory>& devices) const {
    const bool is_distant = i >= cores;
    const DeviceInfo info{.name = (is_distant ? "cuda." : "cpu.") + std::to_string(i),
                          .description = "test",
                          .kind = is_distant ? DeviceKind::kCuda : DeviceKind::kCpu,
                          .depth = is_distant ? 2 : 1,
                          .shares_host_memory = !is_distant};
    infos.push_back(info);
    const std::int64_t fails = i + 1 == cores + distant ? fail_call : 0;
    devices.push_back([=, fault = fault] {
      std::unique_ptr<Device> device = cpu::MakeDevice(info);
      if (is_distant) device = MakeStrictDevice(std::move(device));
      if (fails == 0) return device;
      return sim::MakeSimulatedDevice(std::move(device), {.fail_call = fails, .fault = fault});
    });
  }

  // An optimiser with state merges after each update.
  static JobSetup SetupOf(const RealJob& job) {
    const RunRules rules{.epochs = job.epochs, .target_loss = {}, .eval_every = 0.3};
    std::vector<LaneSetup> lanes;
    for (const RealLane& lane : job.lanes) {
      RunRules own = rules;
      own.target_loss = lane.target_loss;
      own.patience = lane.patience;
      lanes.push_back({LearningRate({.lr = lane.lr, .warmup = 0.5}, job.epochs), own});
    }
    const bool is_direct = IsDirect(job.optimizer, job.optimizer.momentum,
                                    job.storage == Storage::kSparse ? kFeatures : 0);
    return {.job = {.model = ModelOfJob(job),
                    .train_rows = job.rows,
                    .most_workers = job.exclusive ? 1 : 0,
                    .kind = job.kind,
                    .synchronous = FindAlgorithm(job.algorithm).traits.synchronous,
                    .arrives = job.arrives},
            .rows = {.train = job.rows, .valid = job.rows / 10, .test = 0},
            .rules = rules,
            .rates = LearningRate({.lr = job.lr, .warmup = 0.5}, job.epochs),
            .algorithm = MakeAlgorithm(job.algorithm, {.cpu_batch = {7, 7}, .gpu_batch = {11, 11}}),
            .merge_rows = is_direct ? 33 : 1,
            .task_seconds = 2e-3,
            .seed = job.seed,
            .lanes = std::move(lanes)};
  }

  std::shared_ptr<JobMemory> MemoryOf(const RealJob& job, const TrainingInput& input) const {
    auto memory =
        std::make_shared<JobMemory>(ModelOfJob(job), input.training.data, nullptr, cores + distant);
    memory->optimizer = job.optimizer;
    memory->explicit_momentum = job.optimizer.momentum;
    memory->is_exclusive = job.exclusive;
    memory->class_weights = job.class_weights;
    std::vector<float> start(memory->store.idle_weights().size());
    std::vector<std::uint64_t> seeds;
    for (const RealLane& lane : job.lanes) {
      seeds.push_back(lane.seed);
      memory->lanes.push_back(lane.optimizer);
      memory->class_weights.insert(memory->class_weights.end(), lane.class_weights.begin(),
                                   lane.class_weights.end());
    }
    if (seeds.empty()) seeds = {job.start_seed.value_or(job.seed)};
    InitializeLanes(ModelOfJob(job), Initialization::kHe, seeds, start);
    memory->SetWeights(start);
    return memory;
  }

  void Keep(const JobRun& job, const JobMemory& memory) {
    results.push_back(job.Result());
    models.emplace_back(memory.store.idle_weights().begin(), memory.store.idle_weights().end());
    snapshots.emplace_back();
    if (!job.saved_snapshot()) return;
    const auto best = memory.snapshots[*job.saved_snapshot()].span();
    snapshots.back().assign(best.begin(), best.end());
  }
};

}  // namespace hogbatch
