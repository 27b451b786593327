#include "training/sweep/sweep_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "training/memory_check.h"
#include "training/queue/queue.h"
#include "training/sweep/lane_groups.h"

namespace hogbatch {
namespace {

// The largest number up to `most` that fits, if larger ones do not; at least 1.
template <typename Fits>
std::size_t LargestThatFits(std::size_t most, const Fits& fits) {
  std::size_t good = 1, bad = most + 1;
  while (good + 1 < bad) {
    const std::size_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

SweepDevices::SweepDevices(const Devices& devices, std::span<const SweepInput> inputs,
                           std::span<const Trial> trials, std::int64_t core_cache_bytes)
    : inputs_(inputs), core_cache_bytes_(core_cache_bytes), shape_of_(trials.size()) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda, DeviceKind::kOpenCl}) {
    Devices same = devices;
    std::erase_if(same.chosen,
                  [&](const DeviceChoice& device) { return device.info.kind != kind; });
    if (!same.chosen.empty()) kinds_.push_back({.devices = std::move(same)});
  }
  for (const std::vector<std::size_t>& alike : GroupTrials(trials)) {
    for (const std::size_t trial : alike) shape_of_[trial] = alone_.size();
    const Trial& first = trials[alike.front()];
    std::size_t largest = 1;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const std::size_t most = MostLanes(first, kind, alike.size());
      kinds_[kind].lanes.push_back(LanesPerGroup(alike.size(), most, workers()));
      largest = std::max(largest, most);
    }
    alone_.push_back(alike.size() == 1 || largest == 1);
  }
}

std::size_t SweepDevices::workers() const {
  std::size_t all = 0;
  for (const Kind& kind : kinds_) all += kind.devices.chosen.size();
  return all;
}

TrainingPlan SweepDevices::PlanOf(const Trial& trial, std::size_t kind, double pause_epoch) const {
  const TrainingSpec& spec = trial.spec;
  const Devices& devices = kinds_[kind].devices;
  // Plans are made while jobs run, and say nothing that the first one did not.
  WarningObserver silent([](std::string_view) {});
  TrainingSpec same = spec;
  const bool has_cores = kinds_.front().devices.chosen.front().info.kind == DeviceKind::kCpu;
  if (has_cores && kind > 0) {
    const BatchRange rows = ParseBatchRange("--cpu-batch", spec.batch.cpu_batch);
    same.batch.gpu_batch = fmt::format("{}", FixedBatchSize(rows, DeviceKind::kCpu));
  }
  // A trial is judged at its own learning rate, as a lane is.
  const TrialPlacement placement{.pause_epoch = pause_epoch,
                                 .most_rollbacks = 0,
                                 .order_seed = static_cast<std::uint64_t>(SplitSeed(spec))};
  return PlanInQueue(same, *inputs_[trial.fold].input, devices, DefaultScheduler(),
                     Sharing::kExclusive, silent, placement);
}

// Cores gain by lanes while their weights stay in cache, devices with memory of their own as long
// as there is room.
std::size_t SweepDevices::MostLanes(const Trial& trial, std::size_t kind,
                                    std::size_t trials) const {
  try {
    const TrainingPlan plan = PlanOf(trial, kind, std::numeric_limits<double>::infinity());
    const DeviceInfo& device = plan.work.devices.front().info;
    if (device.shares_host_memory) return LanesInCache(plan.work.model, core_cache_bytes_);
    return LargestThatFits(trials, [&](std::size_t lanes) {
      Workload work = plan.work;
      work.model.lanes = static_cast<std::int64_t>(lanes);
      try {
        return CheckTrainingFits(work, inputs_[trial.fold].input->training.data).front() == 0;
      } catch (const UserError&) {
        return false;
      }
    });
  } catch (const Error&) {
    return 1;  // each trial says what is wrong
  }
}

std::string SweepDevices::Text() const {
  const std::string on = fmt::format("{} device{}", workers(), workers() == 1 ? "" : "s");
  std::vector<std::size_t> trials(alone_.size());
  for (const std::size_t shape : shape_of_) ++trials[shape];
  std::size_t groups = 0, most = 1;
  bool equal = true;
  for (std::size_t shape = 0; shape < alone_.size(); ++shape) {
    std::size_t lanes = 1;
    for (const Kind& kind : kinds_) lanes = std::max(lanes, alone_[shape] ? 1 : kind.lanes[shape]);
    groups += (trials[shape] + lanes - 1) / lanes;
    equal = equal && (most == 1 || lanes == most) && trials[shape] % lanes == 0;
    most = std::max(most, lanes);
  }
  if (most == 1) return fmt::format("one trial at a time on each of {}", on);
  return fmt::format("{} trials in {} block{} of {}{} lanes on {}", shape_of_.size(), groups,
                     groups == 1 ? "" : "s", equal ? "" : "up to ", most, on);
}

}  // namespace hogbatch
