#include "training/update_timer.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "runtime/control/task_length.h"

namespace hogbatch {
namespace {

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

class UpdateTimer {
 public:
  UpdateTimer(std::unique_ptr<JobMemory> memory, std::unique_ptr<Device> device,
              const TimedRows& rows)
      : memory_(std::move(memory)),
        overlaps_(device->info().depth > 1),
        worker_(MakeWorker(0, std::move(device), *memory_)),
        rows_(rows) {}

  // The best of a few stretches; the first update of a size may make memory and kernels for it.
  double Time(std::int64_t batch_size) {
    constexpr double kStretchSeconds = 0.05;
    constexpr int kMostMerges = 16, kStretches = 3;
    constexpr double kNever = std::numeric_limits<double>::infinity();
    steps_ = 1;
    Walk(batch_size, 1);
    // As in training: what is merged at once is no longer than a task.
    const double one = std::max(Walk(batch_size, 1), 1e-9);
    const std::int64_t most = std::min(rows_.merge, rows_.train) / batch_size;
    steps_ = static_cast<std::int64_t>(
        std::clamp(kTaskSeconds / one, 1.0, std::max(1.0, static_cast<double>(most))));
    const std::int64_t rows = batch_size * steps_;
    double best = Walk(rows, 1);
    const int merges =
        std::clamp(static_cast<int>(kStretchSeconds / std::max(best, 1e-9)), 1, kMostMerges);
    for (int i = 0; i < kStretches; ++i) {
      best = std::min(best, Walk(rows, merges) / merges);
    }
    return ran_short_ ? kNever : best / static_cast<double>(steps_);
  }

 private:
  // Seconds that so many merges of so many rows take.
  double Walk(std::int64_t rows, int merges) {
    const double begin = Now();
    for (int i = 0; i < merges; ++i) {
      const Task task = NextTask(rows);
      worker_->Compute(task, 0);
      if (i > 0 && overlaps_) Settle();
      under_way_ = task;
      if (!overlaps_) Settle();
    }
    if (overlaps_) Settle();
    return Now() - begin;
  }

  void Settle() {
    worker_->Commit(under_way_, 0);
    // A device without room for the batch has cut it.
    if (worker_->Finish(under_way_).max_batch_size > 0) ran_short_ = true;
  }

  Task NextTask(std::int64_t rows) {
    // Small, so that no weight grows beyond numbers; not 0, which libraries may do nothing for.
    constexpr float kRate = 1e-6f;
    if (next_row_ + rows > rows_.train) next_row_ = 0;
    const RowRange range{next_row_, std::min(next_row_ + rows, rows_.train)};
    next_row_ = range.end;
    return {.id = ++tasks_,
            .rows = range,
            .updates_per_merge = static_cast<std::int32_t>(steps_),
            .learning_rate = kRate};
  }

  std::unique_ptr<JobMemory> memory_;
  bool overlaps_;
  std::unique_ptr<Worker> worker_;
  TimedRows rows_;
  std::int64_t steps_ = 1;  // of each merge
  Task under_way_;
  std::int64_t next_row_ = 0;
  TaskId tasks_ = 0;
  bool ran_short_ = false;
};

}  // namespace

SecondsPerUpdate MakeUpdateTimer(std::unique_ptr<JobMemory> memory, const DeviceFactory& device,
                                 const TimedRows& rows) {
  const auto timer = std::make_shared<UpdateTimer>(std::move(memory), device(), rows);
  return [timer](std::int64_t batch_size) { return timer->Time(batch_size); };
}

}  // namespace hogbatch
