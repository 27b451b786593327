// Training runs to be timed: real workers, real threads, no evaluation.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithms.h"
#include "bench/median.h"
#include "cpu/cpu.h"
#include "nn/initialize.h"
#include "runtime/coordinator.h"
#include "runtime/executor.h"
#include "runtime/job_memory.h"

namespace hogbatch::bench {

class Silent : public RunObserver {
 public:
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view worker, std::string_view what) override {
    throw Error(std::string(worker) + ": " + std::string(what));
  }
};

// Trains for `seconds`; returns examples per second.
inline double TrainingRate(const ModelSpec& spec, const Dataset& data, int workers,
                           std::int64_t update_rows, double seconds) {
  JobMemory memory(spec, data, nullptr, workers);
  Initialize(memory.store.layout(), Initialization::kXavier, 1, memory.store.quiet());
  std::vector<DeviceInfo> devices;
  std::vector<WorkerFactory> factories;
  for (int i = 0; i < workers; ++i) {
    devices.push_back({.name = "cpu." + std::to_string(i), .description = "bench"});
    factories.push_back([&, i] {
      return MakeWorker(i, cpu::MakeDevice(devices[static_cast<std::size_t>(i)]), memory);
    });
  }
  constexpr double kEndless = 1e6;
  const auto algorithm = MakeAlgorithm("hogbatch", {.cpu_batch = {update_rows, update_rows}});
  // A small rate: speed does not depend on it, and no run may diverge.
  Coordinator coordinator(*algorithm, {.job = {.id = 0, .model = spec, .train_rows = data.rows},
                                       .rows = {},
                                       .rules = {.epochs = kEndless,
                                                 .max_seconds = seconds,
                                                 .target_loss = {},
                                                 .eval_every = kEndless},
                                       .rates = RatePlan({.lr = 1e-3}, kEndless),
                                       .workers = devices});
  const std::atomic<int> interrupts = 0;
  Silent silent;
  MakeThreadExecutor(factories, Pinning::kCores, interrupts)->Run(coordinator, silent);
  return coordinator.Result().totals.examples_per_second;
}

}  // namespace hogbatch::bench
