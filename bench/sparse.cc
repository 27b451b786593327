// Training on sparse rows: 20,958 features of which 113 are not zero, two layers of 512, 16 rows
// per update. bench/baselines/pytorch_mlp.py has the same network in PyTorch.
#include <benchmark/benchmark.h>

#include <thread>

#include "bench/training.h"
#include "datasets/synthetic.h"

namespace hogbatch::bench {
namespace {

void Sparse(benchmark::State& state) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const TrainingInput input{
      .training =
          MakeSynthetic({.rows = 25000, .features = 20958, .nonzeros = 113, .valid_fraction = 0})};
  const Dataset& data = input.training.data;
  const ModelSpec spec{
      .inputs = data.features, .hidden = {512, 512}, .outputs = 2, .sparse_input = data.is_sparse};
  std::vector<double> all, speedup;
  for (auto _ : state) {
    all.push_back(TrainingRate(spec, input, cores, state.range(0), 1));
    speedup.push_back(all.back() / TrainingRate(spec, input, 1, state.range(0), 1));
  }
  state.counters["train"] = Median(all);
  state.counters["speedup"] = Median(speedup);
}

BENCHMARK(Sparse)->ArgName("rows")->Arg(16)->Iterations(3)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
