// What checkpoints cost while a network trains. Each round trains as long with a checkpoint a
// second as without one, in changing order, so that both see the same machine; the counters are
// medians of rounds:
//   plain, kept     examples/s with all cores
//   ratio           kept / plain of a round; above 1 is noise
//   default_percent of speed that the default, a checkpoint every 30 s, costs: 100 · (1 - ratio) /
//   30 pause_ms        from the moment that workers get no more tasks until they do again file_mb
//   size of a checkpoint
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "bench/training.h"
#include "core/clock.h"
#include "datasets/synthetic.h"

namespace hogbatch::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 4, kEvery = 1, kDefault = 30;

// Notes how long workers are held up.
class TimedKeeper final : public CheckpointKeeper {
 public:
  TimedKeeper(CheckpointKeeper& inner, std::vector<double>& pauses)
      : inner_(inner), pauses_(pauses) {}

  bool IsDue(double now) override {
    if (!inner_.IsDue(now)) return false;
    asked_ = SteadySeconds();
    return true;
  }
  void Take(JobRun& job) override {
    inner_.Take(job);
    if (asked_ > 0) pauses_.push_back(SteadySeconds() - asked_);
    asked_ = 0;  // the last one, at the end, holds nobody up
  }
  void AwaitTaken() override { inner_.AwaitTaken(); }

 private:
  CheckpointKeeper& inner_;
  std::vector<double>& pauses_;
  double asked_ = 0;
};

void Checkpoints(benchmark::State& state) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const ModelSpec spec{.inputs = 54, .hidden = {state.range(0), state.range(0)}, .outputs = 2};
  const TrainingInput input{
      .training = MakeSynthetic({.rows = 1 << 16, .features = 54, .valid_fraction = 0})};
  const TrainingPlan plan =
      PlanFor(kSeconds, spec, Cores(cores), "hogbatch", {.cpu_batch = {16, 16}});
  const std::string folder = fs::temp_directory_path() / ("bench-" + std::to_string(::getpid()));
  std::vector<double> plain, kept, ratio, pauses;
  double bytes = 0;
  const auto train = [&](double every) {
    fs::create_directories(folder);
    TrainingRun run(plan, input);
    QuietObserver observer;
    RunKeeper keeper({.folder = folder, .options = "{}", .every = every}, plan, input, run.memory(),
                     observer, /*resumed=*/nullptr);
    TimedKeeper timed(keeper, pauses);
    MakeThreadExecutor(run.Workers(), Pinning::kCores)->Run(run.coordinator(), observer, &timed);
    keeper.AwaitTaken();
    bytes = static_cast<double>(fs::file_size(ListCheckpoints(folder).front()));
    fs::remove_all(folder);
    return run.coordinator().Result().totals.examples_per_second;
  };
  for (auto _ : state) {
    const bool first = plain.size() % 2 == 0;
    if (first) kept.push_back(train(kEvery));
    plain.push_back(train(1e9));
    if (!first) kept.push_back(train(kEvery));
    ratio.push_back(kept.back() / plain.back());
  }
  state.counters["plain"] = Median(plain);
  state.counters["kept"] = Median(kept);
  state.counters["ratio"] = Median(ratio);
  state.counters["default_percent"] = 100 * (1 - Median(ratio)) * kEvery / kDefault;
  state.counters["pause_ms"] = 1e3 * Median(pauses);
  state.counters["file_mb"] = bytes / 1e6;
}

BENCHMARK(Checkpoints)
    ->ArgName("width")
    ->Arg(512)
    ->Arg(2048)
    ->Iterations(7)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
