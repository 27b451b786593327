#include "training/sweep/sweep_plan.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/storage.h"
#include "training/checkpoint/run_keeper.h"
#include "training/devices/machine_facts.h"
#include "training/queue/queue.h"
#include "training/sweep/fold_means.h"

namespace hogbatch {
namespace {

void RefusePipes(const std::string& data) {
  for (const std::string& file : SplitLines(data)) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    const bool is_pipe =
        !error && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
    if (file != "-" && !is_pipe) continue;
    throw UserError(fmt::format(
        "{}: folds read the data once each, and a pipe can be read only once; name a file",
        file == "-" ? "standard input" : file));
  }
}

double BytesOf(const TrainingInput& input) {
  return static_cast<double>(input.training.data.bytes() + (input.test ? input.test->bytes() : 0));
}

std::vector<SweepInput> ReadInputs(std::span<const Trial> trials, TrainingObserver& observer) {
  const std::size_t folds = CountFolds(trials);
  if (folds > 1) RefusePipes(trials.front().spec.data);
  std::vector<SweepInput> inputs;
  for (const Trial& trial : trials.first(folds)) {
    auto input = std::make_shared<const TrainingInput>(ReadInput(trial.spec, observer));
    std::string rows = Fingerprint(*input);
    CheckFits(BytesOf(*input) * static_cast<double>(folds), trial.spec.reading.memory_bytes(),
              input->training.data.source,
              fmt::format("each of {} folds has rows of its own; make fewer folds, or raise "
                          "--memory-limit",
                          folds));
    inputs.push_back({std::move(input), std::move(rows)});
  }
  return inputs;
}

}  // namespace

SweepPlan PlanSweep(const SweepSpec& spec, std::vector<Trial> trials, TrainingObserver& observer) {
  const TrainingSpec& first = trials.front().spec;
  Devices devices = DevicesToTrain(first.devices);
  std::vector<SweepInput> inputs = ReadInputs(trials, observer);
  // What is wrong with all trials is wrong with the first one.
  static_cast<void>(PlanInQueue(first, *inputs.front().input, devices, DefaultScheduler(),
                                Sharing::kExclusive, observer));
  return {.trials = std::move(trials),
          .rungs = spec.Rungs(),
          .eta = spec.search.eta,
          .inputs = std::move(inputs),
          .devices = std::move(devices),
          .core_cache_bytes = CoreCacheBytes()};
}

}  // namespace hogbatch
