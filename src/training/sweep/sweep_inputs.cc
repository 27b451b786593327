#include "training/sweep/sweep_inputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/storage.h"
#include "training/job_parts.h"
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

}  // namespace

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

}  // namespace hogbatch
