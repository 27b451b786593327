#include "training/calibration/gpu_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/guard/cache_folder.h"
#include "training/calibration/calibration.h"
#include "training/calibration/calibration_cache.h"
#include "training/calibration/update_timer.h"

namespace hogbatch {
namespace {

class GpuCalibrator {
 public:
  GpuCalibrator(const AdaptedTraining& training, double utilization)
      : training_(training), utilization_(utilization), cache_(DefaultCacheFolder()) {}

  // None if a GPU like this one was calibrated before.
  std::optional<Calibration> Run(std::size_t device) {
    const auto& [info, make] = training_.work.devices[device];
    const std::string key =
        CalibrationKey(info, training_.work.model, training_.data.data, training_.work.optimizer,
                       training_.work.explicit_momentum, training_.work.merge_rows);
    if (!done_.insert(key).second) return std::nullopt;
    const std::int64_t fits = training_.max_batch_sizes[device];
    const TimedRows rows{
        .train = training_.data.train_rows,
        .merge = fits > 0 ? std::min(training_.work.merge_rows, fits) : training_.work.merge_rows};
    return Calibrate(
        {.key = key,
         .limit = LargestBatch(fits),
         .utilization = utilization_,
         .make_timer = [&] { return MakeUpdateTimer(training_.make_memory(), make, rows); }},
        cache_);
  }

 private:
  std::int64_t LargestBatch(std::int64_t fits) const {
    const std::int64_t allowed = std::min(training_.gpu_batch.max, training_.data.train_rows);
    return fits > 0 ? std::min(allowed, fits) : allowed;
  }

  const AdaptedTraining& training_;
  double utilization_;
  CalibrationCache cache_;
  std::set<std::string> done_;  // keys
};

}  // namespace

GpuCalibrations CalibrateGpus(const AdaptedTraining& training, double utilization,
                              TrainingObserver& observer) {
  const std::int64_t unmeasured = training.gpu_batch.min;
  GpuCalibrator calibrator(training, utilization);
  GpuCalibrations found;
  for (std::size_t i = 0; i < training.work.devices.size(); ++i) {
    const DeviceInfo& info = training.work.devices[i].info;
    if (info.kind == DeviceKind::kCpu) continue;
    observer.OnActivity(fmt::format("calibrating {}", info.name));
    const std::optional<Calibration> one = calibrator.Run(i);
    observer.OnActivity("");
    if (!one) continue;
    if (one->bound) {
      found.gpus.push_back({.name = info.name, .bound = *one->bound, .cached = one->cached});
    } else {
      observer.OnWarning(
          fmt::format("{} could not be calibrated, so its updates have {} rows or more: {}",
                      info.name, unmeasured, one->failure));
    }
    found.smallest_batch =
        std::max(found.smallest_batch, one->bound ? one->bound->rows : unmeasured);
  }
  return found;
}

}  // namespace hogbatch
