#include "training/input.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/error.h"
#include "datasets/encoding/fit_labels.h"

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
                         .scaling = ParseScaling(spec.scale),
                         .valid_fraction = spec.valid_fraction,
                         .seed = static_cast<std::uint64_t>(spec.seed),
                         .memory_bytes = ParseMemoryLimit(spec.memory_limit)};
  observer.OnActivity(fmt::format("reading {}", spec.data.empty() ? "the data" : spec.data));
  input.training = input.start ? ReadToGoOn(spec.data, input.start->schema, read)
                               : ReadTrainingData(spec.data, read);
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
