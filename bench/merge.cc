// How fast a replica's update comes into the model and the model into a replica, on one thread,
// beside what the machine can do with the same number of floats in private memory: y += x for what
// reads the model to change it, a copy for what only replaces or reads it. Rows of a sparse first
// layer lie apart, in private memory as in the model. Each round times both in turn; the counters
// are medians of rounds:
//   GB/s       moved, reads and writes counted
//   limit      the same of the private loop
//   of_limit   the one over the other
// Warm, what is moved was just moved before; cold, the caches were filled with something else.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/median.h"
#include "core/aligned.h"
#include "core/clones.h"
#include "core/random.h"
#include "cpu/cpu.h"
#include "runtime/store/parameter_store.h"
#include "runtime/workers/mirrored_layers.h"

namespace hogbatch::bench {
namespace {

HOGBATCH_CLONES void PlainAdd(const float* __restrict x, float* __restrict y, std::size_t floats) {
  for (std::size_t i = 0; i < floats; ++i) y[i] += x[i];
}
HOGBATCH_CLONES void PlainCopy(const float* __restrict x, float* __restrict y, std::size_t floats) {
  for (std::size_t i = 0; i < floats; ++i) y[i] = x[i];
}

constexpr int kRounds = 31;

struct Case {
  std::string name;
  ModelSpec model;
  std::int64_t touched = 0;  // rows of a sparse first layer
};

// A model, an update that came from a device, and the same in private memory.
class Scene {
 public:
  explicit Scene(const Case& c)
      : store(Layout(c.model)), layers(c.model, *device_), touched_(Touched(c)) {
    layers.SetTouched(touched_);
    for (const LayerView& layer : layers.on_device()) {
      device_->Fill(layer.weights, 1e-6f);
      device_->Fill(layer.bias, 1e-6f);
      floats += layer.weights.rows * layer.weights.cols + layer.bias.cols;
    }
    for (std::size_t i = 0; i < count(); ++i) layers.Download(i);
    device_->Wait();
    x = AlignedFloats(floats);
    y = AlignedFloats(store.layout().floats);
    std::fill_n(x.data(), x.size(), 1e-6f);
  }

  std::size_t count() const { return store.layout().layers.size(); }

  // Calls loop(x, y, floats) for each stretch of the private memory that is contiguous in both.
  template <typename F>
  void ForEachStretch(F loop) const {
    const float* from = x.data();
    const auto width = static_cast<std::size_t>(store.layout().layers.front().out);
    for (const std::int32_t row : touched_) {
      loop(from, y.data() + static_cast<std::size_t>(row) * width, width);
      from += width;
    }
    loop(from, y.data(), static_cast<std::size_t>(x.data() + x.size() - from));
  }

 private:
  // Rows at random, ascending.
  static std::vector<std::int32_t> Touched(const Case& c) {
    std::vector<std::int32_t> rows;
    Random random(1);
    std::int64_t open = c.touched;
    for (std::int64_t row = 0; row < c.model.inputs && open > 0; ++row) {
      if (random.Below(c.model.inputs - row) >= open) continue;
      rows.push_back(static_cast<std::int32_t>(row));
      --open;
    }
    return rows;
  }

  std::unique_ptr<Device> device_ = cpu::MakeDevice(cpu::Describe());

 public:
  ParameterStore store;
  MirroredLayers layers;
  std::int64_t floats = 0;  // that are moved
  AlignedFloats x, y;

 private:
  std::vector<std::int32_t> touched_;
};

using Move = void (*)(Scene&);
struct Operation {
  const char* name;
  Move move;
  Move limit;
  int touches;  // of a float: read and written
};

void Add(Scene& s) { s.store.Add(0, s.x.span()); }
void Blend(Scene& s) { s.store.Blend(0, s.x.span(), 0.5f); }
void Write(Scene& s) { s.store.Write(0, s.x.span()); }
void Read(Scene& s) { s.store.Read(0, s.y.span().first(s.x.size())); }
void AddLayers(Scene& s) {
  for (std::size_t i = s.count(); i-- > 0;) s.layers.AddTo(s.store, i);
}
void WriteLayers(Scene& s) {
  for (std::size_t i = s.count(); i-- > 0;) s.layers.WriteTo(s.store, i);
}
void LimitOfAdding(Scene& s) { s.ForEachStretch(PlainAdd); }
void LimitOfCopying(Scene& s) { s.ForEachStretch(PlainCopy); }

constexpr Operation kAddLayers = {"add_layers", AddLayers, LimitOfAdding, 3};
constexpr Operation kWriteLayers = {"write_layers", WriteLayers, LimitOfCopying, 2};

// Takes the place of everything in the caches.
class Flush {
 public:
  void operator()() const {
    benchmark::DoNotOptimize(std::accumulate(memory_.begin(), memory_.end(), std::int64_t{0}));
  }

 private:
  // More than the caches of most; read only, so that nothing waits to be written back.
  std::vector<std::int64_t> memory_ = std::vector<std::int64_t>((256 << 20) / 8, 1);
};

// Of this thread alone: what others run meanwhile takes its time, but is not counted.
double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Seconds(const Move move, Scene& scene, std::int64_t times) {
  const double start = ThreadSeconds();
  for (std::int64_t i = 0; i < times; ++i) {
    move(scene);
    benchmark::ClobberMemory();
  }
  return (ThreadSeconds() - start) / static_cast<double>(times);
}

// `time(move)`: seconds of one.
template <typename F>
void Measure(benchmark::State& state, const Operation& operation, std::int64_t floats, F time) {
  std::vector<double> rates, limits, of_limit;
  const double bytes =
      static_cast<double>(floats) * operation.touches * static_cast<double>(sizeof(float));
  for (auto _ : state) {
    const double limit = time(operation.limit), took = time(operation.move);
    rates.push_back(bytes / took / 1e9);
    limits.push_back(bytes / limit / 1e9);
    of_limit.push_back(limit / took);
  }
  state.counters["GB/s"] = Median(rates);
  state.counters["limit"] = Median(limits);
  state.counters["of_limit"] = Median(of_limit);
}

void Warm(benchmark::State& state, const Operation& operation, const Case& c) {
  Scene scene(c);
  constexpr std::int64_t kFloatsARound = 4 << 20;
  const std::int64_t times = 1 + kFloatsARound / scene.floats;
  const auto time = [&](Move move) {
    move(scene);
    return Seconds(move, scene, times);
  };
  Measure(state, operation, scene.floats, time);
}

void Cold(benchmark::State& state, const Operation& operation, const Case& c) {
  Scene scene(c);
  const Flush flush;
  const auto time = [&](Move move) {
    flush();
    return Seconds(move, scene, 1);
  };
  time(operation.move);  // memory that was never written to is not there yet
  time(operation.limit);
  Measure(state, operation, scene.floats, time);
}

void Register(const Operation& operation, const Case& c) {
  const std::string name = std::string(operation.name) + "/" + c.name;
  benchmark::RegisterBenchmark((name + "/warm").c_str(), Warm, operation, c)->Iterations(kRounds);
  benchmark::RegisterBenchmark((name + "/cold").c_str(), Cold, operation, c)->Iterations(kRounds);
}

ModelSpec Network(std::int64_t inputs, std::vector<std::int64_t> hidden, std::int64_t outputs) {
  return {.inputs = inputs, .hidden = std::move(hidden), .outputs = outputs};
}

ModelSpec SparseNetwork(std::int64_t width) {
  ModelSpec spec = Network(20958, {width}, 2);
  spec.sparse_input = true;
  return spec;
}

void RegisterAll() {
  const Operation of_the_store[] = {{"add", Add, LimitOfAdding, 3},
                                    {"blend", Blend, LimitOfAdding, 3},
                                    {"write", Write, LimitOfCopying, 2},
                                    {"read", Read, LimitOfCopying, 2}};
  const Case whole[] = {{"54-2x512-2", Network(54, {512, 512}, 2)},
                        {"784-2x512-10", Network(784, {512, 512}, 10)},
                        {"54-6x512-2", Network(54, std::vector<std::int64_t>(6, 512), 2)},
                        {"100MB", Network(2048, std::vector<std::int64_t>(6, 2048), 10)}};
  for (const Case& c : whole) {
    for (const Operation& operation : of_the_store) Register(operation, c);
    Register(kAddLayers, c);
    Register(kWriteLayers, c);
  }
  // What 16 and 512 rows with some hundred entries touch of 20,958 columns.
  for (const std::int64_t width : {64, 512}) {
    for (const std::int64_t touched : {1500, 12000}) {
      const Case c{"sparse_" + std::to_string(touched) + "x" + std::to_string(width),
                   SparseNetwork(width), touched};
      Register(kAddLayers, c);
      Register(kWriteLayers, c);
    }
  }
}

}  // namespace
}  // namespace hogbatch::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  hogbatch::bench::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
