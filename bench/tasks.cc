// What the coordinator costs: empty tasks per second through one coordinator and two workers, its
// share of all processor time in ordinary training, and its share and that of merging where a core
// and a GPU train one model.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <ctime>
#include <numeric>
#include <thread>

#include "bench/processor_time.h"
#include "bench/training.h"
#include "datasets/synthetic.h"
#include "gpu/gpu.h"

namespace hogbatch::bench {
namespace {

class IdleWorker : public Worker {
 public:
  explicit IdleWorker(WorkerId id) : id_(id) {}
  void Compute(const Task&, int) override {}
  void Commit(const Task&, int) override {}
  Report Finish(const Task& task) override { return {.task = task.id, .worker = id_}; }

 private:
  WorkerId id_;
};

// One row per update.
class OneRow : public Algorithm {
 public:
  std::optional<Assignment> Assign(const WorkerState&, const JobTable&) override {
    return Assignment{};
  }
};

void EmptyTasks(benchmark::State& state) {
  constexpr std::int64_t kTasks = 200000;
  for (auto _ : state) {
    Coordinator coordinator({.job = {.train_rows = kTasks},
                             .rows = {},
                             .rules = {.epochs = 1, .target_loss = {}},
                             .rates = LearningRate({}, 1),
                             .algorithm = std::make_shared<OneRow>(),
                             .task_seconds = 0},
                            {{.name = "a"}, {.name = "b"}});
    QuietObserver observer;
    const std::vector<WorkerFactory> workers = {[] { return std::make_unique<IdleWorker>(0); },
                                                [] { return std::make_unique<IdleWorker>(1); }};
    MakeThreadExecutor(workers, Pinning::kCores)->Run(coordinator, observer);
  }
  state.SetItemsProcessed(state.iterations() * kTasks);
}

void CoordinatorShare(benchmark::State& state) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const TrainingInput input{
      .training = MakeSynthetic({.rows = 1 << 16, .features = 54, .valid_fraction = 0})};
  const ModelSpec spec{.inputs = 54, .hidden = {512, 512}, .outputs = 2};
  double own = 0, all = 0;
  for (auto _ : state) {
    const double own_before = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    const double all_before = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
    TrainingRate(spec, input, cores, state.range(0), 2);
    own += ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - own_before;
    all += ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID) - all_before;
  }
  state.counters["coordinator_share"] = own / all;
}

// The processor time that a worker's thread spends in Commit. Where that waits for the device the
// thread sleeps, so what is left is merging: the ways of Δ from pinned memory and into the model,
// losses, probes. (A driver that spins while it waits would count as merging.)
class TimedCommits : public Worker {
 public:
  TimedCommits(std::unique_ptr<Worker> inner, std::vector<double>& seconds)
      : inner_(std::move(inner)), seconds_(seconds) {}

  void Compute(const Task& task, int merge) override { inner_->Compute(task, merge); }
  void Commit(const Task& task, int merge) override {
    const double before = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    inner_->Commit(task, merge);
    seconds_.push_back(ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - before);
  }
  bool merge_is_torn() const override { return inner_->merge_is_torn(); }
  Report Finish(const Task& task) override { return inner_->Finish(task); }

 private:
  std::unique_ptr<Worker> inner_;
  std::vector<double>& seconds_;
};

// A core with memory of its own: a device that computes as fast as the core beside it, and whose
// thread merges in none of the time that the device computes.
DeviceChoice StandIn() {
  const DeviceInfo info{.name = "stand-in",
                        .description = "a core with memory of its own",
                        .kind = DeviceKind::kOpenCl,
                        .depth = 2,
                        .shares_host_memory = false};
  return {info, [info] { return cpu::MakeDevice(info); }};
}

// Shares of the time that passed, which a core has once; `of_processor` is what coordinator and
// merging took of all processor time.
void CoreAndGpu(benchmark::State& state, const DeviceChoice& gpu, const std::string& name,
                const AlgorithmOptions& options) {
  const TrainingInput input{
      .training = MakeSynthetic({.rows = 1 << 16, .features = 54, .valid_fraction = 0})};
  const ModelSpec spec{.inputs = 54, .hidden = {512, 512}, .outputs = 2};
  std::vector<double> commits;
  std::vector<DeviceChoice> devices = Cores(1);
  devices.push_back(gpu);
  const auto timed = [&](std::size_t device, std::unique_ptr<Worker> worker) {
    if (device == 0) return worker;
    return std::unique_ptr<Worker>(std::make_unique<TimedCommits>(std::move(worker), commits));
  };
  TrainFor(1, spec, input, devices, name, options, timed);  // compiles what is not yet
  commits.clear();
  Progress totals;
  double coordinator = 0, all = 0;
  for (auto _ : state) {
    const double own_before = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    const double all_before = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
    totals = TrainFor(5, spec, input, devices, name, options, timed);
    coordinator += ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - own_before;
    all += ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID) - all_before;
  }
  const double merging = std::accumulate(commits.begin(), commits.end(), 0.0);
  state.SetLabel(gpu.info.description);
  state.counters["coordinator"] = coordinator / totals.seconds;
  state.counters["merging"] = merging / totals.seconds;
  state.counters["of_processor"] = (coordinator + merging) / all;
  state.counters["merges"] = static_cast<double>(commits.size());
  state.counters["merge_us"] = commits.empty() ? 0 : 1e6 * Median(commits);
  state.counters["gpu_rows"] = static_cast<double>(totals.workers.back().batch_size);
}

BENCHMARK(EmptyTasks)->Iterations(3)->Repetitions(3)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(CoordinatorShare)->ArgName("rows")->Arg(1)->Arg(16)->Arg(256)->Iterations(1);

void Register(const DeviceChoice& gpu) {
  struct Way {
    const char* name;
    const char* algorithm;
    AlgorithmOptions options;
  };
  const Way ways[] = {
      {"gpu_batch_64", "hogbatch", {.gpu_batch = {64, 64}}},
      {"gpu_batch_512", "hogbatch", {.gpu_batch = {512, 512}}},
      {"adaptive", "adaptive", {}},
      {"adaptive_wide", "adaptive", {.cpu_batch = {1, 1024}, .gpu_batch = {4, 8192}}},
  };
  for (const Way& way : ways) {
    const std::string name = "CoreAndGpu/" + gpu.info.name + "/" + way.name;
    benchmark::RegisterBenchmark(name.c_str(), CoreAndGpu, gpu, way.algorithm, way.options)
        ->Iterations(1);
  }
}

void RegisterGpus() {
  for (const gpu::Interface interface : {gpu::Interface::kCuda, gpu::Interface::kOpenCl}) {
    for (const DeviceInfo& info : gpu::Ask(interface).devices) {
      if (info.unusable.empty()) Register({info, [info] { return gpu::MakeDevice(info); }});
    }
  }
  Register(StandIn());
}

}  // namespace
}  // namespace hogbatch::bench

int main(int argc, char** argv) {
  setenv("HOGBATCH_PLUGINS", HOGBATCH_PLUGIN_FOLDER, 0);  // this build's, if none are named
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);               // leaves the other core to the core
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  hogbatch::bench::RegisterGpus();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
