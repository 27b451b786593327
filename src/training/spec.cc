#include "training/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "core/words.h"
#include "datasets/encoding/learn_table.h"
#include "datasets/schema.h"
#include "nn/initialize.h"
#include "runtime/control/task_length.h"
#include "runtime/store/merge.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kUsualEvaluatedRows = 10000;

void VisitReadingOptions(OptionVisitor& v, TrainingSpec& o) {
  o.reading.VisitFormat(v);
  v.Word("label", o.label, LabelWords(),
         "Label column of a CSV file: its name, its number from 1, first or last; auto means last. "
         "Not needed for LIBSVM files");
  o.reading.VisitLabels(v);
  v.Text("positive", o.positive, "LABEL", "Train on two classes: this label against all others");
  v.Word("task", o.task, TaskWords(),
         "What labels are: classes (classify), numbers to predict (regress), or several labels per "
         "row (multilabel). auto takes words for classes, and whole numbers if nearly all of them "
         "occur in several rows");
  v.Text("categorical", o.categorical, "COLUMN,...",
         "CSV columns whose numbers are category codes. They are one-hot encoded. Give names, or "
         "numbers from 1");
  v.Text("ignore", o.ignore, "COLUMN,...", "CSV columns to leave out");
  v.Text("keep", o.keep, "COLUMN,...",
         "CSV columns to use although they would be left out, such as row numbers and words that "
         "nearly all differ");
  v.Number("hash", o.hash, {1, 20},
           fmt::format("A column with more than {} different words is hashed into 2^N inputs",
                       Grouped(kMostCategories)));
}

void VisitData(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Data");
  v.Text("test", o.test, "FILE",
         "A file with labels that is never trained on; its loss and metrics are reported");
  VisitReadingOptions(v, o);
  v.Word("scale", o.scale, ScalingWords(),
         "How features are scaled; learnt on the training rows and saved in the model. standard: "
         "to mean 0 and deviation 1; minmax: to [0, 1]; maxabs: divided by the largest absolute "
         "value. auto is standard for every column that is not mostly 0; columns that are mostly 0 "
         "(one-hot columns, sparse data) keep their zeros: they are left alone if all of them lie "
         "within [-1, 1], else scaled by maxabs");
  v.Number("valid-fraction", o.valid_fraction, {0, 0.9},
           "Share of the rows that are set aside for validation, which chooses the best model; 0: "
           "none. Every class has its share");
  v.Text("valid", o.valid, "FILE", "Validate on the rows of this file, and train on all of DATA");
  v.Text(
      "fold", o.fold, "K/N",
      "Validate on part K of N equal parts of the rows and train on the others. Each part has its "
      "share of every class; groups of --split-by stay whole");
  VisitSplitBy(v, o.split_by,
               "rows with the same value in it are all trained on or all validated on");
  VisitSplitTime(v, o.split_time, "the validation rows");
  v.Number(
      "split-seed", o.split_seed, kSeedRange,
      "Seed of the train/validation split; 0 takes --seed. Runs with the same seed use the same "
      "validation rows");
  v.Text("weight", o.weight, "COLUMN",
         "CSV column with the loss weight of each row. Weights are divided by their mean");
  o.reading.VisitMissingColumns(
      v, "Columns that --test or --valid, or DATA with a model of --init, lacks");
  o.reading.VisitMemoryLimit(v);
  v.Flag("no-cache", o.no_cache, "Read the files again instead of using the data cache");
  v.Flag("stream", o.stream,
         "For data larger than memory: rows are encoded and shuffled on disk, in the cache, and "
         "stay there. They take at most --memory-limit of memory");
}

void VisitClassWeights(OptionVisitor& v, TrainingSpec& o) {
  v.Text("class-weights", o.class_weights, ClassWeightWords().text(),
         "Loss weight of the rows of each class; balanced gives rare classes the same total weight "
         "as frequent ones");
}

void VisitNetwork(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Network");
  v.Numbers("hidden", o.hidden, {0, 1 << 20},
            "Widths of the hidden layers, separated by commas; 0 alone makes a linear model");
  v.Word("activation", o.activation, ActivationWords(), "Activation function of the hidden layers");
  v.Word("loss", o.loss, WithAuto(LossWords()),
         "Loss to minimise: softmax for classes, sigmoid for several labels per row, squared for "
         "numbers; auto chooses by the labels");
  v.Word("init", o.init, WithAuto(InitializationWords(), "FILE"),
         "Initial weights, or a model file to continue from; auto means he for relu and gelu, and "
         "xavier otherwise; paper is the initialisation of the Hogbatch paper, for deep sigmoid "
         "networks");
}

void VisitWork(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Devices and algorithm");
  VisitDevices(v, o.devices, "every GPU, and the cores beside them");
  v.Word("algorithm", o.algorithm, AlgorithmWords(),
         fmt::format("How the workers share the model. {}", AlgorithmHelp()));
  v.Word(
      "merge", o.merge, MergeWords(),
      "How a GPU merges its replica into weights that other workers have changed meanwhile. delta "
      "adds only its own change, so updates of others survive; average moves the weights towards "
      "the replica by 1/teams and loses that part of the updates of others; overwrite replaces "
      "the weights and loses the updates of others, as the Hogbatch paper's own program does");
  v.Number(
      "merge-rows", o.merge_rows, {1, 1e9},
      fmt::format(
          "A GPU merges and re-reads the weights after each update or, if updates are small, after "
          "this many rows: at most about {:g} ms of them, and fewer if other workers merge often. "
          "1 merges every update, as optimisers with state (adam, momentum, weight decay on sparse "
          "rows) always do",
          1000 * kTaskSeconds));
  o.batch.Visit(v);
  v.Number("min-utilization", o.min_utilization, {0.01, 1},
           "With --gpu-batch auto:MAX, the minimum is the smallest batch size at which the GPU "
           "reaches this share of its best throughput");
  o.algorithm_options.Visit(v);
  v.Flag("no-pin", o.no_pin, "Do not pin threads to cores; the system may move them");
}

void VisitStopping(OptionVisitor& v, TrainingSpec& o) {
  v.Group("When to stop");
  v.Number("epochs", o.epochs, {0, 1e6},
           "Passes over the training rows, fractions allowed; 0 saves the initial weights");
  v.Text("max-time", o.max_time, "TIME", "Stop after this time: 90 (seconds), 90s, 5m or 2h");
  v.Number("target-loss", o.target_loss, {0, 1e9},
           "Stop when the validation loss is at most this; 0: off");
  v.Number("patience", o.patience, {0, 1 << 20},
           "Stop after this many consecutive evaluations without a better model; 0: off");
}

void VisitSeed(OptionVisitor& v, TrainingSpec& o) {
  v.Number("seed", o.seed, kSeedRange, "Seed of the order of rows and of the initial weights");
}

void VisitReports(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Evaluation, reports and seed");
  v.Number("eval-every", o.eval_every, {1e-6, 1e6},
           "Epochs between evaluations, fractions allowed");
  v.Word(
      "eval-rows", o.eval_rows, {{"auto", "all"}, "N"},
      fmt::format("Training rows on which the training loss is evaluated, chosen at random once; "
                  "auto is {}, or all without validation rows. All validation and test rows are "
                  "evaluated",
                  kUsualEvaluatedRows));
  v.Number("report-every", o.report_every, {0.01, 1e6}, "Seconds between reports");
  VisitSeed(v, o);
}

}  // namespace

void TrainingSpec::Visit(OptionVisitor& visitor) {
  VisitData(visitor, *this);
  VisitClassWeights(visitor, *this);
  VisitNetwork(visitor, *this);
  learning_rate.Visit(visitor);
  optimizer.Visit(visitor);
  VisitWork(visitor, *this);
  VisitStopping(visitor, *this);
  VisitReports(visitor, *this);
}

void TrainingSpec::VisitReading(OptionVisitor& visitor) {
  visitor.Group("Options");
  VisitReadingOptions(visitor, *this);
  reading.VisitMemoryLimit(visitor);
}

void TrainingSpec::VisitProblem(OptionVisitor& visitor) {
  VisitData(visitor, *this);
  VisitNetwork(visitor, *this);
  VisitSeed(visitor, *this);
}

OptionTexts ChangedOptions(TrainingSpec spec) {
  TrainingSpec unset;
  return Changed(TextsOf([&](OptionVisitor& all) { spec.Visit(all); }),
                 TextsOf([&](OptionVisitor& all) { unset.Visit(all); }));
}

std::int64_t SplitSeed(const TrainingSpec& spec) {
  return spec.split_seed > 0 ? spec.split_seed : spec.seed;
}

bool WeighsClasses(const TrainingSpec& spec) { return WeighsClasses(spec.class_weights); }

std::optional<Loss> WantedLoss(const TrainingSpec& spec) {
  if (spec.loss == "auto") return std::nullopt;
  return ParseLoss(spec.loss);
}

bool StartsFromFile(const TrainingSpec& spec) {
  const Words words = InitializationWords();
  return spec.init != "auto" && std::ranges::find(words.words, spec.init) == words.words.end();
}

void VisitDevices(OptionVisitor& v, std::string& devices, std::string_view automatic) {
  constexpr std::string_view kNames =
      "Devices to use, separated by commas. cpu: all cores this process may use, but one "
      "less beside a GPU, which that core feeds; cpu:N: N worker threads; cuda:N, opencl:N: one "
      "GPU, by its number "
      "in 'hogbatch devices'; cuda:*, opencl:*: all GPUs of that interface";
  v.Word("devices", devices, {{"auto", "cpu"}, "cpu:N|cuda:N|opencl:N"},
         fmt::format("{}. auto takes {}", kNames, automatic));
}

void VisitSplitBy(OptionVisitor& v, std::string& column, std::string_view meaning) {
  v.Text("split-by", column, "COLUMN",
         fmt::format("CSV column that keeps rows together: {}", meaning));
}

void VisitSplitTime(OptionVisitor& v, std::string& column, std::string_view latest) {
  v.Text("split-time", column, "COLUMN",
         fmt::format("CSV column with a date or a number; the latest rows by it are {}", latest));
}

std::int64_t EvaluatedRows(std::string_view eval_rows, std::int64_t train_rows,
                           std::int64_t valid_rows) {
  if (eval_rows == "all") return train_rows;
  if (eval_rows == "auto")
    return valid_rows > 0 ? std::min(train_rows, kUsualEvaluatedRows) : train_rows;
  std::int64_t rows = 0;
  if (!ReadAll(eval_rows, rows) || rows < 1) {
    throw UserError(
        fmt::format("--eval-rows {}: give auto, all, or a whole number from 1", eval_rows));
  }
  return std::min(rows, train_rows);
}

}  // namespace hogbatch
