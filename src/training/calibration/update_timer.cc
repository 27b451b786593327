#include "training/calibration/update_timer.h"

#include <algorithm>
#include <limits>

#include "core/clock.h"
#include "runtime/control/task_length.h"
#include "runtime/executors/task_pipeline.h"

namespace hogbatch {
namespace {

class UpdateTimer {
 public:
  UpdateTimer(std::unique_ptr<JobMemory> memory, std::unique_ptr<Device> device,
              const TimedRows& rows)
      : memory_(std::move(memory)),
        depth_(device->info().depth),
        worker_(MakeWorker(0, std::move(device), *memory_)),
        pipeline_(*worker_, depth_,
                  [this](const Task&, const Report& report, double) { OnReport(report); }),
        rows_(rows) {}

  // Seconds per update: the best of a few runs. The first update of a size may allocate memory and
  // compile kernels, so it does not count.
  double Time(std::int64_t batch_size) {
    constexpr double kRunSeconds = 0.05;
    constexpr int kMaxMerges = 16, kRuns = 3;
    constexpr double kDoesNotFit = std::numeric_limits<double>::infinity();
    updates_per_merge_ = 1;
    SecondsOf(1, batch_size);
    // As in training: a merge is no longer than a task.
    const double one_update = std::max(SecondsOf(1, batch_size), 1e-9);
    const std::int64_t most = std::min(rows_.merge, rows_.train) / batch_size;
    updates_per_merge_ = static_cast<std::int32_t>(
        std::clamp(kTaskSeconds / one_update, 1.0, std::max(1.0, static_cast<double>(most))));
    const std::int64_t merge_rows = batch_size * updates_per_merge_;
    double best = SecondsOf(1, merge_rows);
    const int merges =
        std::clamp(static_cast<int>(kRunSeconds / std::max(best, 1e-9)), 1, kMaxMerges);
    for (int i = 0; i < kRuns; ++i) {
      best = std::min(best, SecondsOf(merges, merge_rows) / merges);
    }
    return ran_short_ ? kDoesNotFit : best / updates_per_merge_;
  }

 private:
  // Seconds that `merges` merges of `merge_rows` rows each take.
  double SecondsOf(int merges, std::int64_t merge_rows) {
    const double begin = SteadySeconds();
    for (int i = 0; i < merges; ++i) pipeline_.Run(NextTask(merge_rows));
    pipeline_.CommitPending();
    return SteadySeconds() - begin;
  }

  // A device without room for the batch has split it.
  void OnReport(const Report& report) { ran_short_ = ran_short_ || report.max_batch_size > 0; }

  Task NextTask(std::int64_t rows) {
    // Small, so that no weight grows without bound; not 0, for which a library may skip the work.
    constexpr float kLearningRate = 1e-6f;
    if (next_row_ + rows > rows_.train) next_row_ = 0;
    const RowRange range{next_row_, std::min(next_row_ + rows, rows_.train)};
    next_row_ = range.end;
    return {.id = ++tasks_,
            .rows = range,
            .updates_per_merge = updates_per_merge_,
            .learning_rate = kLearningRate};
  }

  std::unique_ptr<JobMemory> memory_;
  int depth_;
  std::unique_ptr<Worker> worker_;
  TaskPipeline pipeline_;
  TimedRows rows_;
  std::int32_t updates_per_merge_ = 1;
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
