// Training rates that leave out the moments in which other programs had a core.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bench/steady.h"
#include "bench/training.h"

namespace hogbatch::bench {

// Times a worker's merges. The wait between two tasks counts as an interruption; it takes less
// than a percent (bench_tasks).
class SlicedWorker : public Worker {
 public:
  SlicedWorker(std::unique_ptr<Worker> inner, Slices& slices)
      : inner_(std::move(inner)), slices_(slices) {}

  void Compute(const Task& task, int merge) override { inner_->Compute(task, merge); }
  void Commit(const Task& task, int merge) override {
    inner_->Commit(task, merge);
    slices_.Add(Part(task.rows, merge, task.merges).size());
  }
  bool merge_is_torn() const override { return inner_->merge_is_torn(); }
  Report Finish(const Task& task) override { return inner_->Finish(task); }

 private:
  std::unique_ptr<Worker> inner_;
  Slices& slices_;
};

// Examples per second of `workers` cores.
inline double SteadyTrainingRate(const ModelSpec& spec, const TrainingInput& input, int workers,
                                 std::int64_t batch_size, double seconds) {
  std::vector<Slices> slices(static_cast<std::size_t>(workers));
  TrainFor(seconds, spec, input, Cores(workers), "hogbatch",
           {.cpu_batch = {batch_size, batch_size}},
           [&](std::size_t i, std::unique_ptr<Worker> worker) -> std::unique_ptr<Worker> {
             return std::make_unique<SlicedWorker>(std::move(worker), slices[i]);
           });
  return SteadyRate(slices);
}

}  // namespace hogbatch::bench
