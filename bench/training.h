// Training runs to be timed: real workers, real threads, no evaluation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/algorithms.h"
#include "bench/median.h"
#include "cpu/cpu.h"
#include "nn/initialize.h"
#include "runtime/control/coordinator.h"
#include "runtime/executors/executor.h"
#include "runtime/store/job_memory.h"
#include "training/options.h"

namespace hogbatch::bench {

class Silent : public RunObserver {
 public:
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view worker, std::string_view what) override {
    throw Error(std::string(worker) + ": " + std::string(what));
  }
};

// A worker's place: its device, how it is made on the worker's thread, and what may be put around
// the worker.
struct Seat {
  DeviceInfo info;
  std::function<std::unique_ptr<Device>(const DeviceInfo&)> make = cpu::MakeDevice;
  std::function<std::unique_ptr<Worker>(std::unique_ptr<Worker>)> around = {};
};

inline std::vector<Seat> Cores(int count) {
  std::vector<Seat> seats;
  for (int i = 0; i < count; ++i) {
    seats.push_back({{.name = "cpu." + std::to_string(i), .description = "bench"}});
  }
  return seats;
}

// Trains for `seconds`, merging as is usual.
inline Progress TrainFor(double seconds, const ModelSpec& spec, const Dataset& data,
                         const std::vector<Seat>& seats, Algorithm& algorithm) {
  JobMemory memory(spec, data, nullptr, static_cast<int>(seats.size()));
  Initialize(memory.store.layout(), Initialization::kXavier, 1, memory.store.quiet());
  memory.probes.Begin(memory.store);
  std::vector<DeviceInfo> devices;
  std::vector<WorkerFactory> factories;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const Seat& seat = seats[i];
    devices.push_back(seat.info);
    factories.push_back([&seat, &memory, i] {
      auto worker = MakeWorker(static_cast<WorkerId>(i), seat.make(seat.info), memory);
      return seat.around ? seat.around(std::move(worker)) : std::move(worker);
    });
  }
  constexpr double kEndless = 1e6;
  // A small rate: speed does not depend on it, and no run may diverge.
  Coordinator coordinator(algorithm, {.job = {.id = 0, .model = spec, .train_rows = data.rows},
                                      .rows = {},
                                      .rules = {.epochs = kEndless,
                                                .max_seconds = seconds,
                                                .target_loss = {},
                                                .eval_every = kEndless},
                                      .rates = LearningRate({.lr = 1e-3}, kEndless),
                                      .workers = devices,
                                      .merge_rows = TrainOptions().merge_rows});
  Silent silent;
  MakeThreadExecutor(factories, Pinning::kCores)->Run(coordinator, silent);
  return coordinator.Result().totals;
}

// Examples per second of so many cores.
inline double TrainingRate(const ModelSpec& spec, const Dataset& data, int workers,
                           std::int64_t batch_size, double seconds) {
  const auto algorithm = MakeAlgorithm("hogbatch", {.cpu_batch = {batch_size, batch_size}});
  return TrainFor(seconds, spec, data, Cores(workers), *algorithm).examples_per_second;
}

}  // namespace hogbatch::bench
