// How near training comes to the matrix products it is made of, and to twice the speed on two
// cores. Each round times everything once, so that all see the same machine; the counters are
// medians of rounds:
//   train             examples/s with all cores
//   peak              GFLOP/s of packed products with all cores (bench/packed.h)
//   of_peak           train / the same in examples/s
//   of_products       train / examples/s of oneDNN's products, row-major
//   speedup           train with all cores / train with one
//   peak_speedup      the same of packed products, which share nothing but the machine
//   line_ns           nanoseconds that a cache line takes from core to core
// Rates count moments in which all threads ran (bench/steady.h).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <thread>

#include "bench/packed.h"
#include "bench/products.h"
#include "bench/steady_training.h"
#include "datasets/synthetic.h"

namespace hogbatch::bench {
namespace {

constexpr double kSeconds = 0.4;

ModelSpec Network(std::int64_t hidden_layers) {
  return {.inputs = 54,
          .hidden = std::vector<std::int64_t>(static_cast<std::size_t>(hidden_layers), 512),
          .outputs = 2,
          .activation = Activation::kSigmoid};
}

void Train(benchmark::State& state) {
  const ModelSpec spec = Network(state.range(0));
  const std::int64_t rows = state.range(1);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const TrainingInput input{
      .training = MakeSynthetic({.rows = 1 << 16, .features = 54, .valid_fraction = 0})};
  std::vector<double> train, peak, of_peak, of_products, speedup, peak_speedup, line_ns;
  for (auto _ : state) {
    const double all = SteadyTrainingRate(spec, input, cores, rows, kSeconds);
    const double packed = RateOf<PackedProducts>(spec, cores, rows, kSeconds);
    const double products = RateOf<Products>(spec, cores, rows, kSeconds);
    const double one = SteadyTrainingRate(spec, input, 1, rows, kSeconds);
    const double packed_one = RateOf<PackedProducts>(spec, 1, rows, kSeconds);
    if (std::min({all, packed, products, one, packed_one}) == 0) continue;  // a busy machine
    line_ns.push_back(LineNanoseconds());
    train.push_back(all);
    peak.push_back(packed * PackedProducts::Flop(Layout(spec)) / 1e9);
    of_peak.push_back(all / packed);
    of_products.push_back(all / products);
    speedup.push_back(all / one);
    peak_speedup.push_back(packed / packed_one);
  }
  if (train.empty()) return state.SkipWithError("the machine is too busy to measure");
  state.counters["train"] = Median(train);
  state.counters["peak"] = Median(peak);
  state.counters["of_peak"] = Median(of_peak);
  state.counters["of_products"] = Median(of_products);
  state.counters["speedup"] = Median(speedup);
  state.counters["peak_speedup"] = Median(peak_speedup);
  state.counters["line_ns"] = Median(line_ns);
  state.counters["rounds"] = static_cast<double>(train.size());
}

BENCHMARK(Train)
    ->ArgNames({"hidden", "rows"})
    ->ArgsProduct({{2, 6}, {1, 16, 64, 256, 1024}})
    ->Iterations(9)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
