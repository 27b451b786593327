// The three products of a layer of 512 × 512 on an OpenCL device that is a processor: by the
// kernels it gets (gpu/opencl/processor.cl) and by CLBlast, which GPUs get. Each round times both,
// one after the other; the counters are medians of rounds:
//   gflops     by the device's kernels
//   clblast    GFLOP/s by CLBlast
//   ratio      of the two, round by round
// Hold the device to one thread as training beside it would: POCL_MAX_PTHREAD_COUNT=1.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/median.h"
#include "core/error.h"
#include "gpu/opencl/devices.h"
#include "gpu/opencl/driver.h"

namespace hogbatch::bench {
namespace {

using gpu::Product;

constexpr std::int64_t kWidth = 512;
constexpr int kProducts = 10;  // between two waits

// A driver and a product that it does again and again, on zeros.
class Multiplier {
 public:
  Multiplier(const DeviceInfo& info, bool as_gpu, Product::Form form, std::int64_t rows)
      : driver_(opencl::MakeDriver(info, {.as_gpu = as_gpu})) {
    const bool to_weights = form == Product::Form::kTransposeA;
    product_ = {.form = form,
                .rows = to_weights ? kWidth : rows,
                .cols = kWidth,
                .inner = to_weights ? rows : kWidth,
                .a = Matrix(rows),
                .b = Matrix(to_weights ? rows : kWidth),
                .c = Matrix(to_weights ? kWidth : rows)};
    Gflops();  // compiles
  }
  ~Multiplier() {
    driver_->Synchronize();
    for (void* block : blocks_) driver_->Free(block);
  }
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;

  double Gflops() {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kProducts; ++i) driver_->Multiply(product_);
    driver_->Synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto operations = static_cast<double>(2 * product_.rows * product_.cols * product_.inner);
    return kProducts * operations / took.count() / 1e9;
  }

 private:
  Tensor Matrix(std::int64_t rows) {
    const std::size_t bytes = static_cast<std::size_t>(rows * kWidth) * sizeof(float);
    void* const zeros = driver_->AllocatePinned(bytes);
    std::fill_n(static_cast<float*>(zeros), rows * kWidth, 0.0f);
    blocks_.push_back(driver_->Allocate(bytes));
    driver_->Upload(zeros, blocks_.back(), 0, bytes);
    driver_->Synchronize();
    driver_->FreePinned(zeros);
    return Tensor::Matrix({blocks_.back(), 0, rows * kWidth}, rows, kWidth);
  }

  std::unique_ptr<gpu::Driver> driver_;
  std::vector<void*> blocks_;
  Product product_;
};

void Products(benchmark::State& state, const DeviceInfo& info, Product::Form form) {
  Multiplier own(info, false, form, state.range(0)), clblast(info, true, form, state.range(0));
  std::vector<double> own_rates, clblast_rates, ratios;
  for (auto _ : state) {
    own_rates.push_back(own.Gflops());
    clblast_rates.push_back(clblast.Gflops());
    ratios.push_back(own_rates.back() / clblast_rates.back());
  }
  state.counters["gflops"] = Median(own_rates);
  state.counters["clblast"] = Median(clblast_rates);
  state.counters["ratio"] = Median(ratios);
}

void Register(const DeviceInfo& info) {
  using enum Product::Form;
  for (const auto& [form, name] : {std::pair{kPlain, "forward"}, std::pair{kTransposeB, "to_data"},
                                   std::pair{kTransposeA, "to_weights"}}) {
    benchmark::RegisterBenchmark((info.name + "/" + name).c_str(), Products, info, form)
        ->ArgName("rows")
        ->Args({4})
        ->Args({64})
        ->Args({1024})
        ->Iterations(9)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace hogbatch::bench

int main(int argc, char** argv) {
  using namespace hogbatch;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    for (const opencl::FoundDevice& found : opencl::FindDevices()) {
      if (found.info.on_processor) bench::Register(found.info);
    }
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
