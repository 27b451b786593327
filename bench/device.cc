// What each device of this machine can do, as the network sees it: matrix products, transfers, and
// how much of a transfer hides behind a product. Each round times everything once; the counters are
// medians of rounds:
//   gflops               products of rows × 512 × 512 alone
//   upload, download     GB/s, staging included
//   overlap              (products + uploads - both queued together) / the shorter: 1 is all of it.
//                        Where one is far shorter than the other, as on processors, it is noise
// Softmax shows what a row of 1,024 and one of 1,025 outputs costs: wider rows go to cuDNN on CUDA.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/median.h"
#include "cpu/cpu.h"
#include "device/buffer.h"
#include "gpu/gpu.h"

namespace hogbatch::bench {
namespace {

constexpr std::int64_t kWidth = 512;
constexpr int kCalls = 20;  // between two waits

using MakeDevice = std::function<std::unique_ptr<Device>()>;

// Seconds until all that `queue` queues is done.
double Time(Device& device, const std::function<void()>& queue) {
  const auto start = std::chrono::steady_clock::now();
  queue();
  device.Wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A matrix of ones in the device's memory.
struct DeviceMatrix {
  DeviceMatrix(Device& device, std::int64_t rows, std::int64_t cols)
      : buffer(device, static_cast<std::size_t>(rows * cols) * sizeof(float)),
        tensor(Tensor::Matrix(buffer.span<float>(), rows, cols)) {
    device.Fill(tensor, 1);
  }
  Buffer buffer;
  Tensor tensor;
};

void ProductsAndTransfers(benchmark::State& state, const MakeDevice& make) {
  const std::int64_t rows = state.range(0);
  const auto device = make();
  const DeviceMatrix x(*device, rows, kWidth), w(*device, kWidth, kWidth), bias(*device, 1, kWidth),
      y(*device, rows, kWidth), next(*device, rows, kWidth);
  std::vector<float> host(rows * kWidth, 1.0f);

  const auto products = [&] {
    for (int i = 0; i < kCalls; ++i) {
      device->DenseForward(x.tensor, w.tensor, bias.tensor, Activation::kIdentity, y.tensor, {});
    }
  };
  const auto uploads = [&] {
    for (int i = 0; i < kCalls; ++i) {
      device->Upload(std::as_bytes(std::span(host)), next.tensor.data.base, 0);
    }
  };
  const auto downloads = [&] {
    for (int i = 0; i < kCalls; ++i) {
      device->Download(next.tensor.data.base, 0, std::as_writable_bytes(std::span(host)));
    }
  };
  const auto both = [&] {
    products();
    uploads();
  };
  Time(*device, both);  // compiles and tunes what is done at first use

  std::vector<double> product_rate, upload_rate, download_rate, overlap;
  const double operations = 2.0 * kCalls * static_cast<double>(rows * kWidth * kWidth);
  const double bytes = kCalls * static_cast<double>(host.size() * sizeof(float));
  for (auto _ : state) {
    const double product = Time(*device, products), upload = Time(*device, uploads);
    const double together = Time(*device, both);
    product_rate.push_back(operations / product / 1e9);
    upload_rate.push_back(bytes / upload / 1e9);
    download_rate.push_back(bytes / Time(*device, downloads) / 1e9);
    overlap.push_back((product + upload - together) / std::min(product, upload));
  }
  state.counters["gflops"] = Median(product_rate);
  state.counters["upload"] = Median(upload_rate);
  state.counters["download"] = Median(download_rate);
  state.counters["overlap"] = Median(overlap);
}

void Softmax(benchmark::State& state, const MakeDevice& make) {
  constexpr std::int64_t kRows = 1024;
  const std::int64_t cols = state.range(0);
  const auto device = make();
  const DeviceMatrix outputs(*device, kRows, cols), losses(*device, 1, kRows),
      gradient(*device, kRows, cols);
  const std::vector<std::int32_t> zeros(kRows, 0);
  const Buffer classes(*device, kRows * sizeof(std::int32_t));
  device->Upload(std::as_bytes(std::span(zeros)), classes.span<std::int32_t>().base, 0);
  const auto queue = [&] {
    device->SoftmaxLoss(outputs.tensor, {.classes = classes.span<const std::int32_t>()}, {}, 1,
                        losses.tensor, gradient.tensor);
  };
  Time(*device, queue);
  std::vector<double> nanoseconds;
  for (auto _ : state) {
    nanoseconds.push_back(1e9 * Time(*device, queue) / static_cast<double>(kRows * cols));
  }
  state.counters["ns_per_output"] = Median(nanoseconds);
}

void Register(const std::string& name, const MakeDevice& make) {
  benchmark::RegisterBenchmark((name + "/products_and_transfers").c_str(), ProductsAndTransfers,
                               make)
      ->ArgName("rows")
      ->Args({64})
      ->Args({512})
      ->Args({4096})
      ->Iterations(9)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark((name + "/softmax").c_str(), Softmax, make)
      ->ArgName("outputs")
      ->Args({10})
      ->Args({1024})
      ->Args({1025})
      ->Iterations(9)
      ->Unit(benchmark::kMillisecond);
}

void RegisterGpus(gpu::Interface interface, const char* name) {
  const gpu::DetectedDevices detected = gpu::Ask(interface);
  if (detected.devices.empty())
    std::fprintf(stderr, "no %s device: %s\n", name, detected.why_none.c_str());
  for (const DeviceInfo& info : detected.devices) {
    Register(info.name, [info] { return gpu::MakeDevice(info); });
  }
}

}  // namespace
}  // namespace hogbatch::bench

int main(int argc, char** argv) {
  using namespace hogbatch;
  setenv("HOGBATCH_PLUGINS", HOGBATCH_PLUGIN_FOLDER, 0);  // this build's, if none are named
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  bench::Register("cpu", [] { return cpu::MakeDevice(cpu::Describe()); });
  bench::RegisterGpus(gpu::Interface::kCuda, "CUDA");
  bench::RegisterGpus(gpu::Interface::kOpenCl, "OpenCL");
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
