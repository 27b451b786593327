// What the coordinator costs: empty tasks per second through one coordinator and two workers, and
// its share of all processor time in ordinary training.
#include <benchmark/benchmark.h>

#include <ctime>
#include <thread>

#include "bench/training.h"
#include "datasets/synthetic.h"

namespace hogbatch::bench {
namespace {

double ProcessorSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class IdleWorker : public Worker {
 public:
  explicit IdleWorker(WorkerId id) : id_(id) {}
  void Compute(const Task&, int) override {}
  void Commit(const Task&, int) override {}
  Report Finish(const Task& task) override { return {.task = task.id, .worker = id_}; }

 private:
  WorkerId id_;
};

// Hands out one row at a time, whatever the speed.
class OneRow : public Algorithm {
 public:
  std::optional<Assignment> Assign(const WorkerState&, const JobTable&) override {
    return Assignment{};
  }
};

void EmptyTasks(benchmark::State& state) {
  constexpr std::int64_t kTasks = 200000;
  for (auto _ : state) {
    OneRow one_row;
    Coordinator coordinator(one_row, {.job = {.train_rows = kTasks},
                                      .rows = {},
                                      .rules = {.epochs = 1, .target_loss = {}},
                                      .rates = RatePlan({}, 1),
                                      .workers = {{.name = "a"}, {.name = "b"}}});
    const std::atomic<int> interrupts = 0;
    Silent silent;
    const std::vector<WorkerFactory> workers = {[] { return std::make_unique<IdleWorker>(0); },
                                                [] { return std::make_unique<IdleWorker>(1); }};
    MakeThreadExecutor(workers, Pinning::kCores, interrupts)->Run(coordinator, silent);
  }
  state.SetItemsProcessed(state.iterations() * kTasks);
}

void CoordinatorShare(benchmark::State& state) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const Dataset data = MakeSynthetic({.rows = 1 << 16, .features = 54, .valid_fraction = 0}).data;
  const ModelSpec spec{.inputs = 54, .hidden = {512, 512}, .outputs = 2};
  double own = 0, all = 0;
  for (auto _ : state) {
    const double own_before = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    const double all_before = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
    TrainingRate(spec, data, cores, state.range(0), 2);
    own += ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - own_before;
    all += ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID) - all_before;
  }
  state.counters["coordinator_share"] = own / all;
}

BENCHMARK(EmptyTasks)->Iterations(3)->Repetitions(3)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(CoordinatorShare)->ArgName("rows")->Arg(1)->Arg(16)->Arg(256)->Iterations(1);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
