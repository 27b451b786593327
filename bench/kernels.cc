// How fast the CPU device's calls are, beside what bounds them: oneDNN's matrix products alone, and
// the memory. Compare numbers of one run only; other work on the machine moves them all.
#include <benchmark/benchmark.h>
#include <dnnl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.h"
#include "cpu/cpu.h"
#include "device/buffer.h"
#include "tests/support/one_dnn.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kWidth = 512;
constexpr int kLayers = 6;  // visited in turn: 6 MB, so that weights come from the L3

// Weights that all threads of a benchmark share, as workers do.
std::vector<float>& SharedWeights() {
  static std::vector<float> weights(kLayers * kWidth * kWidth, 0.01f);
  return weights;
}

// One thread's device, a batch and its gradients.
class Layer {
 public:
  explicit Layer(std::int64_t rows)
      : memory_(*device_, (3 * rows + kWidth + 1) * kWidth * sizeof(float)) {
    const DeviceSpan<float> all = memory_.span<float>();
    x = Tensor::Matrix(all, rows, kWidth);
    y = Tensor::Matrix(all.Sub(rows * kWidth, rows * kWidth), rows, kWidth);
    dy = Tensor::Matrix(all.Sub(2 * rows * kWidth, rows * kWidth), rows, kWidth);
    dw = Tensor::Matrix(all.Sub(3 * rows * kWidth, kWidth * kWidth), kWidth, kWidth);
    bias = Tensor::Vector(all.Sub((3 * rows + kWidth) * kWidth, kWidth));
    device_->Fill(Tensor::Vector(all), 0.01f);
    HoldOneDnnToOneThread();
  }

  Device& device() { return *device_; }
  Tensor NextWeights() {
    next_ = (next_ + 1) % kLayers;
    return Tensor::Matrix(
        HostSpan(SharedWeights().data() + next_ * kWidth * kWidth, kWidth * kWidth), kWidth,
        kWidth);
  }

 private:
  std::unique_ptr<Device> device_ = cpu::MakeDevice(cpu::Describe());
  Buffer memory_;
  int next_ = 0;

 public:
  Tensor x, y, dy, dw, bias;
};

void CountProducts(benchmark::State& state, int products) {
  const double flop = 2.0 * static_cast<double>(state.range(0) * kWidth * kWidth) * products;
  state.counters["GFLOP/s"] = benchmark::Counter(
      flop * static_cast<double>(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}

void ProductAlone(benchmark::State& state, char a, char b) {
  Layer layer(state.range(0));
  const std::int64_t rows = state.range(0);
  for (auto _ : state) {
    float* w = layer.NextWeights().host();
    if (a == 'T') {
      dnnl_sgemm(a, b, kWidth, kWidth, rows, 1, layer.x.host(), kWidth, layer.dy.host(), kWidth, 0,
                 layer.dw.host(), kWidth);
    } else {
      dnnl_sgemm(a, b, rows, kWidth, kWidth, 1, layer.x.host(), kWidth, w, kWidth, 0,
                 layer.y.host(), kWidth);
    }
  }
  CountProducts(state, 1);
}

void Forward(benchmark::State& state) {
  Layer layer(state.range(0));
  for (auto _ : state) {
    layer.device().DenseForward(layer.x, layer.NextWeights(), layer.bias, Activation::kSigmoid,
                                layer.y, {});
  }
  CountProducts(state, 1);
}

void BackwardData(benchmark::State& state) {
  Layer layer(state.range(0));
  for (auto _ : state) {
    layer.device().DenseBackwardData(layer.dy, layer.NextWeights(), Activation::kSigmoid, layer.x,
                                     {}, layer.y);
  }
  CountProducts(state, 1);
}

void UpdateShared(benchmark::State& state) {
  Layer layer(state.range(0));
  for (auto _ : state) {
    layer.device().DenseBackwardWeights(layer.x, layer.dy, -1e-9f, 1, layer.NextWeights(),
                                        layer.bias);
  }
  CountProducts(state, 1);
}

// The alternative to UpdateShared: the product with beta 1 that oneDNN offers.
void UpdateSharedByOneDnn(benchmark::State& state) {
  Layer layer(state.range(0));
  for (auto _ : state) {
    dnnl_sgemm('T', 'N', kWidth, kWidth, state.range(0), -1e-9f, layer.x.host(), kWidth,
               layer.dy.host(), kWidth, 1, layer.NextWeights().host(), kWidth);
  }
  CountProducts(state, 1);
}

void ThreeProducts(Layer& layer, std::int64_t rows) {
  float* w = layer.NextWeights().host();
  dnnl_sgemm('N', 'N', rows, kWidth, kWidth, 1, layer.x.host(), kWidth, w, kWidth, 0,
             layer.y.host(), kWidth);
  dnnl_sgemm('N', 'T', rows, kWidth, kWidth, 1, layer.dy.host(), kWidth, w, kWidth, 0,
             layer.y.host(), kWidth);
  dnnl_sgemm('T', 'N', kWidth, kWidth, rows, 1, layer.x.host(), kWidth, layer.dy.host(), kWidth, 0,
             layer.dw.host(), kWidth);
}

void ThreeCalls(Layer& layer) {
  const Tensor w = layer.NextWeights();
  layer.device().DenseForward(layer.x, w, layer.bias, Activation::kSigmoid, layer.y, {});
  layer.device().DenseBackwardData(layer.dy, w, Activation::kSigmoid, layer.x, {}, layer.y);
  layer.device().DenseBackwardWeights(layer.x, layer.dy, -1e-9f, 1, w, layer.bias);
}

// What a layer costs in training, in turn with oneDNN's same three products alone: `of_products` is
// the rate of the one over that of the other, whatever else the machine does meanwhile.
void LayerUpdate(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  Layer layer(state.range(0));
  std::chrono::duration<double> calls{}, products{};
  for (auto _ : state) {
    const auto start = Clock::now();
    for (int i = 0; i < kLayers; ++i) ThreeCalls(layer);
    const auto middle = Clock::now();
    for (int i = 0; i < kLayers; ++i) ThreeProducts(layer, state.range(0));
    calls += middle - start;
    products += Clock::now() - middle;
    state.SetIterationTime(std::chrono::duration<double>(middle - start).count());
  }
  CountProducts(state, 3 * kLayers);
  state.counters["of_products"] =
      benchmark::Counter(products / calls, benchmark::Counter::kAvgThreads);
}

// A vector as the one row of a product of depth 1: nearly all of the time is bias and activation.
void ActivationOnly(benchmark::State& state) {
  Layer layer(64);
  const Tensor one = layer.x.Rows(1);
  const Tensor column{layer.bias.data, 64, 1, 1};
  for (auto _ : state) {
    layer.device().DenseForward(column, one, layer.bias, static_cast<Activation>(state.range(0)),
                                layer.y, {});
  }
  state.SetItemsProcessed(state.iterations() * 64 * kWidth);
}

// 16 sparse rows with 113 entries over 20,958 columns, a new batch every time.
class SparseBatches {
 public:
  static constexpr std::int64_t kRows = 16, kEntries = 113, kColumns = 20958, kBatches = 40;

  explicit SparseBatches(std::uint64_t seed) {
    Random random(seed);
    offsets_.push_back(0);
    for (std::int64_t r = 0; r < kRows * kBatches; ++r) {
      // One column out of each of 113 equal ranges: ascending, without repetition.
      for (std::int64_t i = 0; i < kEntries; ++i) {
        columns_.push_back(static_cast<std::int32_t>(i * (kColumns / kEntries) +
                                                     random.Below(kColumns / kEntries)));
      }
      offsets_.push_back(static_cast<std::int64_t>(columns_.size()));
    }
    values_.assign(columns_.size(), 0.1f);
  }

  CsrTensor Next() {
    next_ = (next_ + 1) % kBatches;
    const auto entries = static_cast<std::int64_t>(columns_.size());
    return {HostSpan<const std::int64_t>(offsets_.data() + next_ * kRows, kRows + 1),
            HostSpan<const std::int32_t>(columns_.data(), entries),
            HostSpan<const float>(values_.data(), entries), kRows, kColumns};
  }
  static Tensor Weights() {
    static std::vector<float> weights(kColumns * kWidth, 0.01f);
    return Tensor::Matrix(HostSpan(weights.data(), kColumns * kWidth), kColumns, kWidth);
  }

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<std::int32_t> columns_;
  std::vector<float> values_;
  std::int64_t next_ = 0;
};

void CountSparse(benchmark::State& state, int passes) {
  state.SetItemsProcessed(state.iterations() * SparseBatches::kRows);
  state.SetBytesProcessed(state.iterations() * SparseBatches::kRows * SparseBatches::kEntries *
                          kWidth * static_cast<std::int64_t>(sizeof(float)) * passes);
}

void SparseForward(benchmark::State& state) {
  Layer layer(SparseBatches::kRows);
  SparseBatches batches(static_cast<std::uint64_t>(state.thread_index()));
  for (auto _ : state) {
    layer.device().SparseForward(batches.Next(), SparseBatches::Weights(), layer.bias,
                                 Activation::kSigmoid, layer.y, {});
  }
  CountSparse(state, 1);
}

void SparseUpdateShared(benchmark::State& state) {
  Layer layer(SparseBatches::kRows);
  SparseBatches batches(static_cast<std::uint64_t>(state.thread_index()));
  for (auto _ : state) {
    layer.device().SparseBackwardWeights(batches.Next(), layer.dy, -1e-9f, 1,
                                         SparseBatches::Weights(), layer.bias);
  }
  CountSparse(state, 2);
}

// y = y + x over 64 MB: what the sparse products cannot beat where weights outgrow the caches.
void MemoryBandwidth(benchmark::State& state) {
  constexpr std::int64_t kFloats = 8 << 20;
  const auto device = cpu::MakeDevice(cpu::Describe());
  const Buffer memory(*device, 2 * kFloats * sizeof(float));
  const Tensor x = Tensor::Vector(memory.span<float>().Sub(0, kFloats));
  const Tensor y = Tensor::Vector(memory.span<float>().Sub(kFloats, kFloats));
  device->Fill(x, 1);
  device->Fill(y, 1);
  for (auto _ : state) device->AddScaled(x, 1, 1, y);
  state.SetBytesProcessed(state.iterations() * 3 * kFloats *
                          static_cast<std::int64_t>(sizeof(float)));
}

void RowsAndThreads(benchmark::internal::Benchmark* b) {
  for (const std::int64_t rows : {1, 16, 64, 256, 1024}) b->Arg(rows);
  b->ArgName("rows")->ThreadRange(1, 2);
}

BENCHMARK_CAPTURE(ProductAlone, Forward, 'N', 'N')->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK(Forward)->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK_CAPTURE(ProductAlone, BackwardData, 'N', 'T')->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK(BackwardData)->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK_CAPTURE(ProductAlone, Update, 'T', 'N')->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK(UpdateSharedByOneDnn)->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK(UpdateShared)->Apply(RowsAndThreads)->UseRealTime();
BENCHMARK(LayerUpdate)->Apply(RowsAndThreads)->UseManualTime();
BENCHMARK(ActivationOnly)->DenseRange(0, 4)->ArgName("activation");
BENCHMARK(SparseForward)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(SparseUpdateShared)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(MemoryBandwidth)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace hogbatch

BENCHMARK_MAIN();
