#include "training/plan_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "algorithms/algorithms.h"
#include "core/guard/cache_folder.h"
#include "core/option_values.h"
#include "core/text.h"

namespace hogbatch {
namespace {

// Options of merging that have no effect in this training.
void AddMergeNotes(const TrainingSpec& spec, const TrainingPlan& plan,
                   std::vector<std::string>& notes) {
  const TrainingSpec usual;
  const int gpus = CountWorkers(plan.work.devices).gpu;
  if (spec.merge != usual.merge && gpus == 0) {
    notes.push_back(
        fmt::format("--merge {} is for GPUs; cores write the shared weights in place", spec.merge));
  }
  if (spec.merge_rows == usual.merge_rows) return;
  if (gpus == 0) {
    notes.emplace_back("--merge-rows is for GPUs; cores write each update as it is made");
  } else if (plan.work.synchronous || plan.work.merge_rows != spec.merge_rows) {
    notes.push_back(
        fmt::format("--merge-rows has no effect with {}",
                    plan.work.synchronous ? plan.algorithm : "an optimiser that has state"));
  }
}

// Options of algorithms that are not used.
void AddAlgorithmNotes(const TrainingSpec& spec, const TrainingPlan& plan,
                       std::vector<std::string>& notes) {
  for (const AlgorithmInfo& other : Algorithms()) {
    if (other.name == plan.algorithm) continue;
    AnyOptions given = spec.algorithm_options.of(other), unset = other.options();
    const OptionTexts changed = Changed(TextsOf([&](OptionVisitor& all) { given.Visit(all); }),
                                        TextsOf([&](OptionVisitor& all) { unset.Visit(all); }));
    for (const auto& [name, text] : changed) {
      notes.push_back(fmt::format("--{} is for --algorithm {}; {} does not use it", name,
                                  other.name, plan.algorithm));
    }
  }
}

// An option that only these values of another one use.
struct PartOfAnother {
  std::string_view name;
  std::string_view other;
  std::vector<std::string_view> users;
};

// Options of the optimisers and schedules that are not used.
void AddStepNotes(const TrainingSpec& spec, std::vector<std::string>& notes) {
  const std::string& optimizer = spec.optimizer.optimizer;
  const std::string& schedule = spec.learning_rate.lr_schedule;
  const std::array<PartOfAnother, 6> parts = {{{"no-momentum-correction", "optimizer", {"sgd"}},
                                               {"adam-beta1", "optimizer", {"adam"}},
                                               {"adam-beta2", "optimizer", {"adam"}},
                                               {"adam-epsilon", "optimizer", {"adam"}},
                                               {"lr-decay", "lr-schedule", {"inverse", "step"}},
                                               {"lr-step", "lr-schedule", {"step"}}}};
  for (const auto& [given, text] : ChangedOptions(spec)) {
    const auto part = std::ranges::find(parts, given, &PartOfAnother::name);
    if (part == parts.end()) continue;
    const std::string& value = part->other == "optimizer" ? optimizer : schedule;
    if (std::ranges::find(part->users, value) != part->users.end()) continue;
    notes.push_back(fmt::format("--{} is for --{} {}; {} does not use it", given, part->other,
                                fmt::join(part->users, " and "), value));
  }
}

// Devices whose memory limits --gpu-batch.
void AddMemoryNotes(const TrainingPlan& plan, std::vector<std::string>& notes) {
  const std::int64_t wanted = plan.work.gpu_batch.max;
  for (std::size_t i = 0; i < plan.max_batch_sizes.size(); ++i) {
    const std::int64_t fits = plan.max_batch_sizes[i];
    if (fits == 0 || fits >= wanted) continue;
    notes.push_back(fmt::format("{} has room for {} per update, fewer than --gpu-batch {}",
                                plan.work.devices[i].info.name, Plural(fits, "row", "rows"),
                                wanted));
  }
}

}  // namespace

std::vector<std::string> NotesOn(const Devices& devices) {
  std::vector<std::string> notes;
  const WorkerCounts workers = CountWorkers(devices.chosen);
  if (workers.cpu > devices.cores) {
    notes.push_back(fmt::format("{} workers share {} cores; more workers than cores rarely help",
                                workers.cpu, devices.cores));
  }
  // Kernels of GPUs and measured batch sizes are then found out again in every run.
  const auto cache = DefaultCacheFolder();
  if (!cache || workers.gpu == 0) return notes;
  const std::string why = WhyNoCache(*cache);
  if (!why.empty()) notes.push_back(fmt::format("this run uses no cache: {}", why));
  return notes;
}

std::vector<std::string> NotesOn(const TrainingSpec& spec, const TrainingPlan& plan) {
  std::vector<std::string> notes;
  const AlgorithmTraits traits = FindAlgorithm(plan.algorithm).traits;
  if (FixedBatchSize(plan.batches, DeviceKind::kCpu) == 1 && !traits.synchronous &&
      CountWorkers(plan.work.devices).cpu > 1) {
    notes.emplace_back(
        "at one row per update, cores that write the same weights slow each other down: several "
        "can be slower than one");
  }
  AddMergeNotes(spec, plan, notes);
  if (traits.adapts_batch_size && !plan.adapts()) {
    notes.push_back(
        fmt::format("{} balances cores and GPUs; with one of them alone, batch sizes stay fixed",
                    plan.algorithm));
  }
  AddAlgorithmNotes(spec, plan, notes);
  AddStepNotes(spec, notes);
  AddMemoryNotes(plan, notes);
  return notes;
}

}  // namespace hogbatch
