#include "cli/update_timer.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace hogbatch {
namespace {

double Now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

class UpdateTimer {
 public:
  UpdateTimer(std::unique_ptr<JobMemory> memory, std::unique_ptr<Device> device,
              std::int64_t train_rows)
      : memory_(std::move(memory)),
        overlaps_(device->info().depth > 1),
        worker_(MakeWorker(0, std::move(device), *memory_)),
        train_rows_(train_rows) {}

  // The best of a few stretches; the first update of a size may make memory and kernels for it.
  double Time(std::int64_t rows) {
    constexpr double kStretchSeconds = 0.05;
    constexpr int kMostUpdates = 16, kStretches = 3;
    constexpr double kNever = std::numeric_limits<double>::infinity();
    Walk(rows, 1);
    double best = Walk(rows, 1);
    const int updates =
        std::clamp(static_cast<int>(kStretchSeconds / std::max(best, 1e-9)), 1, kMostUpdates);
    for (int i = 0; i < kStretches; ++i) {
      best = std::min(best, Walk(rows, updates) / updates);
    }
    return ran_short_ ? kNever : best;
  }

 private:
  // Seconds that so many updates take.
  double Walk(std::int64_t rows, int updates) {
    const double begin = Now();
    for (int i = 0; i < updates; ++i) {
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
    if (worker_->Finish(under_way_).most_rows > 0) ran_short_ = true;
  }

  Task NextTask(std::int64_t rows) {
    // Small, so that no weight grows beyond numbers; not 0, which libraries may do nothing for.
    constexpr float kRate = 1e-6f;
    if (next_row_ + rows > train_rows_) next_row_ = 0;
    const RowRange range{next_row_, std::min(next_row_ + rows, train_rows_)};
    next_row_ = range.end;
    return {.id = ++tasks_, .rows = range, .rate = kRate};
  }

  std::unique_ptr<JobMemory> memory_;
  bool overlaps_;
  std::unique_ptr<Worker> worker_;
  std::int64_t train_rows_;
  Task under_way_;
  std::int64_t next_row_ = 0;
  TaskId tasks_ = 0;
  bool ran_short_ = false;
};

}  // namespace

SecondsPerUpdate MakeUpdateTimer(std::unique_ptr<JobMemory> memory, const DeviceFactory& device,
                                 std::int64_t train_rows) {
  const auto timer = std::make_shared<UpdateTimer>(std::move(memory), device(), train_rows);
  return [timer](std::int64_t rows) { return timer->Time(rows); };
}

}  // namespace hogbatch
