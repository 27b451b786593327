#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/spelling.h"
#include "core/text.h"
#include "datasets/encoding/class_weights.h"
#include "datasets/encoding/split.h"
#include "nn/initialize.h"
#include "training/spec.h"

namespace hogbatch {
namespace {

// Checks every value against its range and words.
class ValueCheck final : public OptionVisitor {
 public:
  void Group(std::string_view) override {}
  void Flag(std::string_view, bool&, std::string_view) override {}
  void Number(std::string_view name, std::int64_t& value, Range range, std::string_view) override {
    CheckInRange(name, static_cast<double>(value), range);
  }
  void Number(std::string_view name, double& value, Range range, std::string_view) override {
    CheckInRange(name, value, range);
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& values, Range range,
               std::string_view) override {
    for (const std::int64_t value : values) CheckInRange(name, static_cast<double>(value), range);
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view) override {
    CheckedWord(name, value, words);
  }
  void Text(std::string_view, std::string&, std::string_view, std::string_view) override {}
};

void CheckHidden(const std::vector<std::int64_t>& hidden) {
  if (hidden.size() > kMostHiddenLayers) {
    throw UserError(
        fmt::format("--hidden: {} layers; choose at most {}", hidden.size(), kMostHiddenLayers));
  }
  if (hidden.size() == 1 || std::ranges::find(hidden, 0) == hidden.end()) return;
  throw UserError("--hidden 0 (a linear model) cannot be combined with other layers");
}

void CheckInit(const TrainingSpec& spec) {
  if (!StartsFromFile(spec) || std::filesystem::exists(spec.init)) return;
  const Words words = InitializationWords();
  throw UserError(fmt::format("--init {}: neither one of {} nor an existing file{}", spec.init,
                              fmt::join(words.words, ", "), DidYouMean(spec.init, words.words)));
}

// Checks that need no labels.
void CheckLabels(const TrainingSpec& spec) {
  const std::optional<Loss> loss = WantedLoss(spec);
  if (loss == Loss::kSquared && WeighsClasses(spec)) {
    throw UserError(fmt::format(
        "--class-weights is for classes; with --loss {} the labels are numbers", spec.loss));
  }
  if (!spec.positive.empty() && loss && *loss != Loss::kSoftmax) {
    throw UserError(
        fmt::format("--positive makes two classes, which --loss {} cannot learn; "
                    "leave out one of them",
                    spec.loss));
  }
  CheckClassWeights(spec.class_weights);
}

void CheckSplit(const TrainingSpec& spec) {
  if (!spec.split_by.empty() && !spec.split_time.empty()) {
    throw UserError("--split-by and --split-time cannot be combined; give one of them");
  }
  if (!spec.valid.empty() && !(spec.split_by.empty() && spec.split_time.empty())) {
    throw UserError("--valid names the validation rows; leave out --split-by and --split-time");
  }
  if (!ParseFold(spec.fold)) return;
  const auto refuse = [](bool is_given, const char* name) {
    if (!is_given) return;
    throw UserError(fmt::format("--fold chooses the validation rows; leave out --{}", name));
  };
  refuse(!spec.valid.empty(), "valid");
  refuse(!spec.split_time.empty(), "split-time");
  refuse(spec.valid_fraction != TrainingSpec().valid_fraction, "valid-fraction");
  refuse(spec.stream, "stream");
}

void CheckStream(const TrainingSpec& spec) {
  if (!spec.stream) return;
  if (spec.no_cache) {
    throw UserError("--stream reads its rows from the cache; leave out --no-cache");
  }
  if (spec.data.empty()) throw UserError("--stream is for files; name one");
  if (!spec.split_by.empty() || !spec.split_time.empty()) {
    throw UserError(
        "--stream sets validation rows aside at random; leave out --split-by and --split-time, or "
        "name a file with --valid");
  }
}

}  // namespace

void Validate(const TrainingSpec& spec) {
  TrainingSpec copy = spec;  // a visitor might change what it visits
  ValueCheck values;
  copy.Visit(values);
  CheckHidden(spec.hidden);
  CheckInit(spec);
  CheckLabels(spec);
  spec.optimizer.Validate();
  // Throws if the text is wrong for any loss.
  spec.learning_rate.ChosenFor(Loss::kSoftmax, spec.optimizer.kind());
  ParseBatchRange("--cpu-batch", spec.batch.cpu_batch);
  ParseGpuBatch("--gpu-batch", spec.batch.gpu_batch);
  if (!spec.max_time.empty()) ParseDuration("--max-time", spec.max_time);
  spec.reading.Parse();
  EvaluatedRows(spec.eval_rows, 1, 0);
  CheckSplit(spec);
  CheckStream(spec);
}

void SetOption(TrainingSpec& spec, std::string_view name, std::string_view text) {
  SetOption([&](OptionVisitor& all) { spec.Visit(all); }, name, text);
}

}  // namespace hogbatch
