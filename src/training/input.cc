#include "training/input.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "datasets/encoding/fit_labels.h"
#include "datasets/encoding/storage.h"

namespace hogbatch {
namespace {

// With --init the model decides what these options would choose.
void CheckSettled(const TrainingSpec& spec, const Schema& schema) {
  const auto check = [&](std::string_view name, std::string_view asked, std::string_view unset,
                         std::string_view has) {
    if (asked == unset || asked == has) return;
    throw UserError(
        fmt::format("--{} {}: the model of --init has '{}' and keeps it; leave out --{}", name,
                    asked, has, name));
  };
  check("scale", spec.scale, "auto", Name(schema.scaling));
  check("positive", spec.positive, "", schema.positive);
  if (schema.format == FileFormat::kCsv) check("label", spec.label, "auto", schema.label_column);
}

}  // namespace

TrainingInput ReadInput(const TrainingSpec& spec, TrainingObserver& observer) {
  TrainingInput input;
  if (StartsFromFile(spec)) {
    input.start = LoadModel(spec.init);
    CheckSettled(spec, input.start->schema);
  }
  const ReadOptions read{.label = spec.label,
                         .labels = spec.labels,
                         .positive = spec.positive,
                         .task = ParseTask(spec.task),
                         .scaling = ParseScaling(spec.scale),
                         .valid_fraction = spec.valid.empty() ? spec.valid_fraction : 0,
                         .split_by = spec.split_by,
                         .split_time = spec.split_time,
                         .seed = static_cast<std::uint64_t>(spec.seed),
                         .categorical = SplitList(spec.categorical),
                         .ignore = SplitList(spec.ignore),
                         .keep = SplitList(spec.keep),
                         .hash_bits = static_cast<int>(spec.hash),
                         .memory_bytes = ParseMemoryLimit(spec.memory_limit)};
  observer.OnActivity(fmt::format("reading {}", spec.data.empty() ? "the data" : spec.data));
  input.training = input.start ? ReadToGoOn(spec.data, input.start->schema, read)
                               : ReadTrainingData(spec.data, read);
  if (!spec.valid.empty()) {
    observer.OnActivity(fmt::format("reading {}", spec.valid));
    AppendRows(ReadWithSchema(spec.valid, input.training.schema, Labels::kRequired,
                              {.memory_bytes = read.memory_bytes}),
               input.training.data);
  }
  FitLabels(spec.loss, input.training);
  if (!spec.test.empty()) {
    observer.OnActivity(fmt::format("reading {}", spec.test));
    input.test = ReadWithSchema(spec.test, input.training.schema, Labels::kRequired,
                                {.memory_bytes = read.memory_bytes});
  }
  observer.OnActivity("");
  return input;
}

}  // namespace hogbatch
