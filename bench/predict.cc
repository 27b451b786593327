// How near prediction comes to the matrix products it is made of. Each round times both once, so
// that they see the same machine; the counters are medians of rounds:
//   predict      examples/s with all cores
//   gflops       of the products in them
//   of_products  predict / examples/s of oneDNN's forward products, 1024 rows at a time
#include "training/predict.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>

#include "bench/products.h"
#include "bench/steady.h"
#include "datasets/synthetic.h"

namespace hogbatch::bench {
namespace {

constexpr std::int64_t kRows = 1 << 16;
constexpr std::int64_t kProductRows = 1024;

double FlopOfExample(const ModelSpec& spec) {
  double flop = 0;
  for (const LayerShape& s : Layout(spec).layers) flop += 2.0 * static_cast<double>(s.in * s.out);
  return flop;
}

double PredictRate(const SavedModel& model, const Dataset& data,
                   const std::vector<DeviceChoice>& devices) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  float sum = 0;
  Predict(devices, model, data,
          [&](RowRange, std::span<const float> outputs) { sum += outputs[0]; });
  benchmark::DoNotOptimize(sum);
  return static_cast<double>(data.rows) /
         std::chrono::duration<double>(Clock::now() - start).count();
}

void PredictRows(benchmark::State& state) {
  SavedModel model;
  model.spec = {.inputs = 54,
                .hidden = {state.range(0), state.range(0)},
                .outputs = 2,
                .activation = Activation::kRelu};
  const TrainingData training = MakeSynthetic({.rows = kRows, .features = 54, .valid_fraction = 0});
  model.schema = training.schema;
  model.parameters.assign(static_cast<std::size_t>(Layout(model.spec).floats), 0.01f);
  const auto devices = DevicesToInfer("cpu", model.spec);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<double> predict, of_products;
  for (auto _ : state) {
    const double all = PredictRate(model, training.data, devices);
    const double products = RateOf<ForwardProducts>(model.spec, cores, kProductRows, 0.4);
    if (products == 0) continue;  // a busy machine
    predict.push_back(all);
    of_products.push_back(all / products);
  }
  if (predict.empty()) return state.SkipWithError("the machine is too busy to measure");
  state.counters["predict"] = Median(predict);
  state.counters["gflops"] = Median(predict) * FlopOfExample(model.spec) / 1e9;
  state.counters["of_products"] = Median(of_products);
}

BENCHMARK(PredictRows)
    ->ArgName("width")
    ->Arg(512)
    ->Arg(1024)
    ->Arg(2048)
    ->Iterations(9)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
