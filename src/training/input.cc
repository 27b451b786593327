#include "training/input.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/guard/cache_folder.h"
#include "core/text.h"
#include "datasets/encoding/class_weights.h"
#include "datasets/encoding/fit_labels.h"
#include "datasets/encoding/storage.h"
#include "datasets/input_files.h"
#include "training/cache/data_cache.h"
#include "training/cache/stream_data.h"

namespace hogbatch {
namespace {

// With --init the model decides what these options would choose.
void CheckSettled(const TrainingSpec& spec, const Schema& schema) {
  const TrainingSpec unset;
  const auto check = [](std::string_view name, std::string_view asked, std::string_view by_default,
                        std::string_view has) {
    if (asked == by_default || asked == has) return;
    throw UserError(
        fmt::format("--{} {}: the model of --init has '{}' and keeps it; leave out --{}", name,
                    asked, has, name));
  };
  check("scale", spec.scale, unset.scale, Name(schema.scaling));
  check("positive", spec.positive, unset.positive, schema.positive);
  if (schema.format == FileFormat::kCsv) {
    check("label", spec.label, unset.label, schema.label_column);
  }
}

// Converts labels to the kind that --loss is for.
void FitLabelsToLoss(const TrainingSpec& spec, TrainingData& training) {
  const std::optional<Loss> loss = WantedLoss(spec);
  if (!loss) return;
  try {
    FitLabels(LabelsFor(*loss), training);
  } catch (const UserError& error) {
    throw UserError(fmt::format("--loss {}: {}", spec.loss, error.what()));
  }
}

// Rows that stay on disk.
TrainingData ReadFromDisk(const TrainingSpec& spec, const ReadOptions& read, const Schema* schema,
                          TrainingObserver& observer) {
  const auto folder = DefaultCacheFolder();
  if (!folder) {
    throw UserError(
        "--stream keeps encoded rows in a cache, and there is no home folder for it; set "
        "XDG_CACHE_HOME to a folder of yours on a disk with room");
  }
  return ReadStream({.data = spec.data, .valid = spec.valid, .read = read, .schema = schema},
                    DataCache(*folder / "data"),
                    [&](std::string_view what) { observer.OnActivity(what); });
}

// From the cache if the same file was read in the same way before.
TrainingData ReadOnce(const TrainingSpec& spec, const ReadOptions& read) {
  const auto folder = spec.no_cache ? std::nullopt : DefaultCacheFolder();
  const auto key = folder ? DataKey(spec.data, read) : std::nullopt;
  if (!key) return ReadTrainingData(spec.data, read);
  const DataCache cache(*folder / "data");
  if (auto data = cache.Load(*key, read.memory_bytes)) return *std::move(data);
  TrainingData data = ReadTrainingData(spec.data, read);
  cache.Store(*key, data);
  return data;
}

}  // namespace

ReadOptions ReadOptionsOf(const TrainingSpec& spec) {
  const ReadOptions file = spec.reading.Parse();
  return {.format = file.format,
          .label = spec.label,
          .labels = file.labels,
          .positive = spec.positive,
          .task = ParseTask(spec.task),
          .scaling = ParseScaling(spec.scale),
          .valid_fraction = spec.valid.empty() ? spec.valid_fraction : 0,
          .fold = ParseFold(spec.fold),
          .split_by = spec.split_by,
          .split_time = spec.split_time,
          .seed = static_cast<std::uint64_t>(SplitSeed(spec)),
          .categorical = SplitList(spec.categorical),
          .ignore = SplitList(spec.ignore),
          .keep = SplitList(spec.keep),
          .weight = spec.weight,
          .hash_bits = static_cast<int>(spec.hash),
          .fills_columns = file.fills_columns,
          .memory_bytes = file.memory_bytes};
}

TrainingInput ReadInput(const TrainingSpec& spec, TrainingObserver& observer,
                        std::optional<SavedModel> start) {
  TrainingInput input;
  if (StartsFromFile(spec)) {
    input.start = start ? *std::move(start) : LoadModel(spec.init);
    CheckSettled(spec, input.start->schema);
  }
  const ReadOptions read = ReadOptionsOf(spec);
  observer.OnActivity(fmt::format(
      "reading {}", spec.data.empty() ? "the data" : NameOfFiles(SplitLines(spec.data))));
  const Schema* const schema = input.start ? &input.start->schema : nullptr;
  if (spec.stream) {
    input.training = ReadFromDisk(spec, read, schema, observer);
  } else {
    input.training = schema ? ReadToGoOn(spec.data, *schema, read) : ReadOnce(spec, read);
    if (!spec.valid.empty()) {
      observer.OnActivity(fmt::format("reading {}", spec.valid));
      AppendRows(ReadWithSchema(spec.valid, input.training.schema, Labels::kRequired,
                                {.weight = read.weight,
                                 .fills_columns = read.fills_columns,
                                 .memory_bytes = read.memory_bytes}),
                 input.training.data);
    }
  }
  NormalizeRowWeights(input.training);
  FitLabelsToLoss(spec, input.training);
  if (!spec.test.empty()) {
    observer.OnActivity(fmt::format("reading {}", spec.test));
    input.test =
        ReadWithSchema(spec.test, input.training.schema, Labels::kRequired,
                       {.fills_columns = read.fills_columns, .memory_bytes = read.memory_bytes});
  }
  observer.OnActivity("");
  return input;
}

}  // namespace hogbatch
