// Training runs to be timed: real workers, real threads, no evaluation.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/median.h"
#include "cpu/cpu.h"
#include "runtime/executors/executor.h"
#include "tests/support/observers.h"
#include "training/train.h"

namespace hogbatch::bench {

inline std::vector<DeviceChoice> Cores(int count) {
  std::vector<DeviceChoice> cores;
  for (int i = 0; i < count; ++i) {
    const DeviceInfo info{.name = "cpu." + std::to_string(i), .description = "bench"};
    cores.push_back({info, [info] { return cpu::MakeDevice(info); }});
  }
  return cores;
}

// What may be put around the worker of a device.
using WorkerWrapper =
    std::function<std::unique_ptr<Worker>(std::size_t device, std::unique_ptr<Worker>)>;

// A training for `seconds`, merging as is usual. No row is kept back for validation.
inline TrainingPlan PlanFor(double seconds, const ModelSpec& spec,
                            const std::vector<DeviceChoice>& devices, const std::string& algorithm,
                            const AlgorithmOptions& batches) {
  constexpr double kEndless = 1e6;
  // A small rate: speed does not depend on it, and no run may diverge.
  return {.work = {.model = spec, .merge_rows = TrainingSpec().merge_rows, .devices = devices},
          .algorithm = algorithm,
          .batches = batches,
          .learning_rate = {.lr = 1e-3},
          .rules = {.epochs = kEndless,
                    .max_seconds = seconds,
                    .target_loss = {},
                    .eval_every = std::numeric_limits<double>::infinity(),
                    .report_every = 1}};
}

// `trace`, if there is one, has room for the devices.
inline Progress TrainFor(double seconds, const ModelSpec& spec, const TrainingInput& input,
                         const std::vector<DeviceChoice>& devices, const std::string& algorithm,
                         const AlgorithmOptions& batches, const WorkerWrapper& wrap = {},
                         RunTrace* trace = nullptr) {
  const TrainingPlan plan = PlanFor(seconds, spec, devices, algorithm, batches);
  TrainingRun run(plan, input);
  std::vector<WorkerFactory> workers = run.Workers();
  for (std::size_t i = 0; wrap && i < workers.size(); ++i) {
    workers[i] = [make = workers[i], &wrap, i] { return wrap(i, make()); };
  }
  QuietObserver observer;
  MakeThreadExecutor(workers, Pinning::kCores, {}, trace)->Run(run.coordinator(), observer);
  return run.coordinator().Result().totals;
}

// Examples per second of `workers` cores.
inline double TrainingRate(const ModelSpec& spec, const TrainingInput& input, int workers,
                           std::int64_t batch_size, double seconds) {
  return TrainFor(seconds, spec, input, Cores(workers), "hogbatch",
                  {.cpu_batch = {batch_size, batch_size}})
      .examples_per_second;
}

}  // namespace hogbatch::bench
