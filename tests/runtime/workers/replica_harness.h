// A worker on a device that shares no memory with the host, for tests that drive it by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "nn/initialize.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/worker.h"
#include "tests/support/strict_device.h"

namespace hogbatch {

inline constexpr std::int64_t kNonzeros[] = {0, 5};  // of a row; 0: rows are dense

inline void ExpectNear(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-6) << i;
}

// The strict device does whatever a real one may do. // memory, for a test that plays it.
struct ReplicaHarness {
  explicit ReplicaHarness(std::int64_t nonzeros, int depth = 1)
      : training(MakeSynthetic({.rows = 600, .features = 200, .nonzeros = nonzeros})),
        spec{.inputs = 200,
             .hidden = {32},
             .outputs = 2,
             .activation = Activation::kRelu,
             .loss = Loss::kSoftmax,
             .sparse_input = nonzeros > 0},
        memory(spec, training.data, nullptr, 2),
        device{.name = "cpu.0", .description = "test", .depth = depth} {
    std::vector<float> start(memory.store.idle_weights().size());
    Initialize(memory.store.layout(), Initialization::kHe, 1, start);
    memory.SetWeights(start);
  }
  // The worker is made by the first task, so that a test can set the memory's options before.
  Worker& worker() {
    if (!made) {
      made =
          MakeWorker(0, MakeStrictDevice(cpu::MakeDevice(device), DeviceKind::kCuda, use), memory);
    }
    return *made;
  }
  Report Do(const Task& task) {
    worker().Compute(task, 0);
    worker().Commit(task, 0);
    return worker().Finish(task);
  }
  std::vector<float> Model() const {
    return {memory.store.idle_weights().begin(), memory.store.idle_weights().end()};
  }

  TrainingData training;
  ModelSpec spec;
  JobMemory memory;
  DeviceInfo device;
  std::shared_ptr<DeviceUse> use = std::make_shared<DeviceUse>();
  std::unique_ptr<Worker> made;
};

}  // namespace hogbatch
