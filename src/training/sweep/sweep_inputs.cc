#include "training/sweep/sweep_inputs.h"

#include <fmt/format.h>

#include <utility>

#include "datasets/encoding/storage.h"
#include "training/job_parts.h"
#include "training/sweep/fold_means.h"

namespace hogbatch {

std::vector<SweepInput> ReadInputs(std::span<const Trial> trials, TrainingObserver& observer) {
  const std::size_t folds = CountFolds(trials);
  std::vector<SweepInput> inputs;
  for (const Trial& trial : trials.first(folds)) {
    auto input = std::make_shared<const TrainingInput>(ReadInput(trial.spec, observer));
    std::string rows = Fingerprint(*input);
    const Dataset& data = input->training.data;
    CheckFits(static_cast<double>(data.bytes()) * static_cast<double>(folds),
              ParseMemoryLimit(trial.spec.memory_limit), data.source,
              fmt::format("each of {} folds has rows of its own; make fewer folds, or raise "
                          "--memory-limit",
                          folds));
    inputs.push_back({std::move(input), std::move(rows)});
  }
  return inputs;
}

}  // namespace hogbatch
