#include "training/gpu_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/cache_folder.h"
#include "training/calibration.h"
#include "training/calibration_cache.h"
#include "training/update_timer.h"

namespace hogbatch {
namespace {

std::int64_t LimitOf(const TrainPlan& plan, std::size_t device, std::int64_t train_rows) {
  const std::int64_t fits = plan.max_batch_size[device];
  return std::min(
      {plan.batches.gpu_batch.max, train_rows, fits > 0 ? fits : plan.batches.gpu_batch.max});
}

class GpuCalibration {
 public:
  GpuCalibration(const TrainOptions& options, const TrainPlan& plan, const ModelSpec& spec,
                 const TrainingData& training, const MemoryFactory& make_memory)
      : options_(options),
        plan_(plan),
        spec_(spec),
        training_(training),
        make_memory_(make_memory),
        momentum_(MomentumToApply(options, CountWorkers(plan).all())),
        merge_rows_(MergeRows(options, spec, CountWorkers(plan).all())),
        cache_(DefaultCacheFolder()) {}

  // Of a GPU of the plan; none if one like it was calibrated before.
  std::optional<Calibration> Run(std::size_t device) {
    const auto& [info, make] = plan_.devices[device];
    const std::string key =
        CalibrationKey(info, spec_, training_.data, options_.optimizer, momentum_, merge_rows_);
    if (!done_.insert(key).second) return std::nullopt;
    const std::int64_t fits = plan_.max_batch_size[device];
    const TimedRows rows{.train = training_.train_rows,
                         .merge = fits > 0 ? std::min(merge_rows_, fits) : merge_rows_};
    return Calibrate({.key = key,
                      .limit = LimitOf(plan_, device, training_.train_rows),
                      .utilization = options_.min_utilization,
                      .make_timer = [&] { return MakeUpdateTimer(make_memory_(), make, rows); }},
                     cache_);
  }

 private:
  const TrainOptions& options_;
  const TrainPlan& plan_;
  const ModelSpec& spec_;
  const TrainingData& training_;
  const MemoryFactory& make_memory_;
  double momentum_;
  std::int64_t merge_rows_;
  CalibrationCache cache_;
  std::set<std::string> done_;  // keys
};

}  // namespace

std::vector<std::string> CalibrateGpuBatch(const TrainOptions& options, TrainPlan& plan,
                                           const ModelSpec& spec, const TrainingData& training,
                                           const MemoryFactory& make_memory,
                                           TrainingObserver& observer) {
  if (!plan.calibrate_gpu_batch || !Adapts(options, plan)) return {};
  const std::int64_t unmeasured = plan.batches.gpu_batch.min;
  GpuCalibration calibration(options, plan, spec, training, make_memory);
  std::int64_t min = 0;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.devices.size(); ++i) {
    const DeviceInfo& info = plan.devices[i].info;
    if (info.kind == DeviceKind::kCpu) continue;
    observer.OnActivity(fmt::format("calibrating {}", info.name));
    const std::optional<Calibration> found = calibration.Run(i);
    observer.OnActivity("");
    if (!found) continue;
    min = std::max(min, found->bound ? found->bound->rows : unmeasured);
    if (found->bound) {
      lines.push_back("measured  " + CalibrationText(info.name, *found, options.min_utilization));
    } else {
      observer.OnWarning(
          fmt::format("{} could not be calibrated, so its updates have {} rows or more: {}",
                      info.name, unmeasured, found->failure));
    }
  }
  plan.batches.gpu_batch.min = min;
  return lines;
}

}  // namespace hogbatch
