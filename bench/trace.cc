// What `train --trace` costs while a network trains. Each round trains as long with a trace as
// without one, in changing order, so that both see the same machine; the counters are medians of
// rounds:
//   plain, traced   examples/s with all cores
//   cost_percent    100 · (1 - traced / plain) of a round; below 0 is noise
//   record_ns       processor time to record one task
//   record_percent  of a core that recording takes: record_ns · tasks of a core per second. Unlike
//   the
//                   cost above it can be told on a machine that does something else, too
//   spread_percent  of plain between rounds (half of the range between the quartiles): what a cost
//                   must exceed to be seen
#include <benchmark/benchmark.h>

#include <algorithm>
#include <thread>

#include "bench/processor_time.h"
#include "bench/training.h"
#include "core/clock.h"
#include "datasets/synthetic.h"

namespace hogbatch::bench {
namespace {

constexpr double kSeconds = 1;

// As the executor does it: a look at the clock, and a span into the memory of the worker.
double SecondsToRecord() {
  constexpr int kSpans = 1 << 18;
  RunTrace trace(1, kSpans);
  const double before = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kSpans; ++i) {
    const double now = SteadySeconds();
    trace.of(0).Add({.begin = now - 1e-3, .end = now, .rows = i, .updates = 4, .merges = 1});
  }
  const double seconds = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - before;
  benchmark::DoNotOptimize(trace.workers()[0].spans().data());
  return seconds / kSpans;
}

void Trace(benchmark::State& state) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const ModelSpec spec{.inputs = 54, .hidden = {512, 512}, .outputs = 2};
  const TrainingInput input{
      .training = MakeSynthetic({.rows = 1 << 16, .features = 54, .valid_fraction = 0})};
  const std::string algorithm = state.range(1) == 0 ? "hogbatch" : "sync";
  const BatchRange rows{state.range(0), state.range(0)};
  const auto train = [&](RunTrace* trace) {
    return TrainFor(kSeconds, spec, input, Cores(cores), algorithm, {.cpu_batch = rows}, {}, trace)
        .examples_per_second;
  };
  std::vector<double> plain, traced, cost, tasks, record;
  for (auto _ : state) {
    RunTrace trace(static_cast<std::size_t>(cores));
    const bool first = plain.size() % 2 == 0;
    if (first) traced.push_back(train(&trace));
    plain.push_back(train(nullptr));
    if (!first) traced.push_back(train(&trace));
    cost.push_back(100 * (1 - traced.back() / plain.back()));
    record.push_back(SecondsToRecord());
    tasks.push_back(static_cast<double>(trace.workers()[0].spans().size()));
  }
  state.SetLabel(algorithm);
  state.counters["plain"] = Median(plain);
  state.counters["traced"] = Median(traced);
  state.counters["cost_percent"] = Median(cost);
  state.counters["tasks_per_core"] = Median(tasks) / kSeconds;
  state.counters["record_ns"] = 1e9 * Median(record);
  state.counters["record_percent"] = 100 * Median(record) * Median(tasks) / kSeconds;
  std::ranges::sort(plain);
  const double quartiles = plain[plain.size() * 3 / 4] - plain[plain.size() / 4];
  state.counters["spread_percent"] = 100 * quartiles / 2 / Median(plain);
}

BENCHMARK(Trace)
    ->ArgNames({"rows", "sync"})
    ->ArgsProduct({{1, 16, 256}, {0, 1}})
    ->Iterations(11)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
