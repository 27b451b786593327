// The options of a training. Defaults, names, ranges and help are here, or in the part of the
// program that they belong to, and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithms.h"
#include "core/option_values.h"
#include "core/options.h"
#include "datasets/dataset.h"
#include "datasets/encoding/class_weights.h"
#include "nn/learning_rate.h"
#include "nn/model_spec.h"
#include "nn/optimizer.h"
#include "runtime/store/merge.h"
#include "training/reading_options.h"

namespace hogbatch {

inline constexpr const char* kDevicesByDefault = "auto";
inline constexpr Range kSeedRange = {0, 9e15};  // doubles hold such numbers exactly

struct TrainingSpec {
  // A file, a pattern such as part-*.csv, or several of them on lines of their own; - is standard
  // input. Empty: the data set that ships with the program.
  std::string data;

  std::string test;
  ReadingOptions reading;
  std::string label = ReadOptions().label;
  std::string positive;
  std::string task = "auto";
  std::string categorical;
  std::string ignore;
  std::string keep;
  std::int64_t hash = ReadOptions().hash_bits;
  std::string scale = "auto";
  double valid_fraction = ReadOptions().valid_fraction;
  std::string valid;
  std::string fold;
  std::string split_by;
  std::string split_time;
  std::int64_t split_seed = 0;
  std::string weight;
  bool no_cache = false;
  bool stream = false;
  std::string class_weights = kNoClassWeights;

  std::vector<std::int64_t> hidden = {512, 512};
  std::string activation{Name(ModelSpec().activation)};
  std::string loss = "auto";
  std::string init = "auto";

  LearningRateOptions learning_rate;
  OptimizerOptions optimizer;

  std::string algorithm = "auto";
  std::string devices = kDevicesByDefault;
  std::string merge{Name(kUsualMerge)};
  std::int64_t merge_rows = 256;
  BatchOptions batch;
  OptionsOfAlgorithms algorithm_options;
  double min_utilization = 0.5;
  bool no_pin = false;

  double epochs = 5;
  std::string max_time;
  double target_loss = 0;
  std::int64_t patience = 0;

  double eval_every = 1;
  std::string eval_rows = "auto";
  double report_every = 1;
  std::int64_t seed = static_cast<std::int64_t>(ReadOptions().seed);

  void Visit(OptionVisitor& visitor);
  // Those of them that say what is learnt, not how: the data, the network and the seed.
  void VisitProblem(OptionVisitor& visitor);
  // Those of them that say how a file is read.
  void VisitReading(OptionVisitor& visitor);
};

// UserError for every value and combination that is wrong for any data on any machine. Reads no
// file; only checks that a model to start from exists.
void Validate(const TrainingSpec& spec);

// Sets one option by its name ("lr-batch") from text. UserError for an unknown name or a wrong
// value.
void SetOption(TrainingSpec& spec, std::string_view name, std::string_view text);

// The options that are not at their defaults.
OptionTexts ChangedOptions(TrainingSpec spec);

// The option --devices, which other commands share. `automatic`: what auto takes, for the help.
void VisitDevices(OptionVisitor& visitor, std::string& devices, std::string_view automatic);

// --split-by and --split-time, likewise.
void VisitSplitBy(OptionVisitor& visitor, std::string& column, std::string_view meaning);
void VisitSplitTime(OptionVisitor& visitor, std::string& column, std::string_view latest);

// The training rows that an evaluation measures the loss of (--eval-rows): the first ones, since
// rows are in random order.
std::int64_t EvaluatedRows(std::string_view eval_rows, std::int64_t train_rows,
                           std::int64_t valid_rows);

// The seed that the rows are split and ordered by.
std::int64_t SplitSeed(const TrainingSpec& spec);

// Whether --class-weights asks for weights.
bool WeighsClasses(const TrainingSpec& spec);

// What --loss names; none: it follows the labels.
std::optional<Loss> WantedLoss(const TrainingSpec& spec);

// Whether --init names a model file, not a kind of initialisation.
bool StartsFromFile(const TrainingSpec& spec);

}  // namespace hogbatch
