// How near training comes to the matrix products it is made of, and to twice the speed on two
// cores. Each round times everything once, so that all see the same machine; the counters are
// medians of rounds:
//   train, products      examples/s with all cores
//   of_products          train / products
//   speedup              train with all cores / train with one
//   products_speedup     the same of the products, which share nothing but the machine
#include <benchmark/benchmark.h>

#include <thread>

#include "bench/products.h"
#include "bench/training.h"
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
  std::vector<double> train, products, of_products, speedup, products_speedup;
  for (auto _ : state) {
    const double limit = ProductRate(spec, cores, rows, kSeconds);
    const double all = TrainingRate(spec, input, cores, rows, kSeconds);
    const double one = TrainingRate(spec, input, 1, rows, kSeconds);
    train.push_back(all);
    products.push_back(limit);
    of_products.push_back(all / limit);
    speedup.push_back(all / one);
    products_speedup.push_back(limit / ProductRate(spec, 1, rows, kSeconds));
  }
  state.counters["train"] = Median(train);
  state.counters["products"] = Median(products);
  state.counters["of_products"] = Median(of_products);
  state.counters["speedup"] = Median(speedup);
  state.counters["products_speedup"] = Median(products_speedup);
}

BENCHMARK(Train)
    ->ArgNames({"hidden", "rows"})
    ->ArgsProduct({{2, 6}, {1, 16, 64, 256, 1024}})
    ->Iterations(9)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
