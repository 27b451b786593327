// The options of each command.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/schedulers/schedulers.h"
#include "compare/spec.h"
#include "core/options.h"
#include "training/checkpoint/checkpoint_options.h"
#include "training/spec.h"
#include "training/sweep/sweep_spec.h"

namespace hogbatch {

struct TrainOptions {
  TrainingSpec spec;
  std::int64_t ensemble = 0;
  std::int64_t folds = 0;
  std::string out;
  bool quiet = false;
  bool json = false;
  bool report = false;
  std::string trace;
  bool tensorboard = false;
  CheckpointOptions checkpoints;
  std::string resume;

  std::vector<std::string> given;  // names of the options on the command line

  void Visit(OptionVisitor& visitor);
};

struct QueueCommandOptions {
  std::string jobs;
  std::string scheduler = std::string(DefaultScheduler().name);
  SchedulerOptions scheduling;
  std::string devices = "auto";
  std::string out;
  std::string watch;
  std::string resume;
  std::string retry;
  CheckpointOptions checkpoints;
  bool quiet = false;
  bool json = false;

  std::vector<std::string> given;  // names of the options on the command line

  void Visit(OptionVisitor& visitor);
};

struct SweepCommandOptions {
  SweptOptions training;
  SearchOptions search;
  std::string out;
  std::string resume;
  CheckpointOptions checkpoints;
  bool quiet = false;
  bool json = false;

  std::vector<std::string> given;  // names of the options on the command line

  void Visit(OptionVisitor& visitor);
};

struct EvalOptions {
  std::string model;
  std::string data;
  std::string format = "auto";
  std::string labels;
  std::string missing_columns = "refuse";
  std::string memory_limit = "auto";
  std::string devices = "auto";
  bool importance = false;
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct PredictOptions {
  std::string model;
  std::string data;
  std::string format = "auto";
  std::string missing_columns = "refuse";
  std::string memory_limit = "auto";
  std::string devices = "auto";
  std::string out;
  bool probabilities = false;
  std::int64_t top = 0;
  double threshold = 0;
  bool json = false;
  bool with_input = false;

  void Visit(OptionVisitor& visitor);
};

struct ReportOptions {
  std::vector<std::string> runs;  // folders, each as DIR or NAME=DIR
  std::string out;

  void Visit(OptionVisitor& visitor);
};

struct ExportOptions {
  TrainingSpec spec;
  std::string onnx;
  std::string out;
  std::vector<std::int64_t> init_seeds;

  void Visit(OptionVisitor& visitor);
};

struct CompareOptions {
  compare::CompareSpec spec;
  bool quiet = false;
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct DataInfoOptions {
  TrainingSpec spec;
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct DataConvertOptions {
  TrainingSpec spec;
  std::string out;
  std::string to = "auto";

  void Visit(OptionVisitor& visitor);
};

struct DataSplitOptions {
  TrainingSpec spec;
  std::string out_train;
  std::string out_test;
  double test_fraction = 0.2;

  void Visit(OptionVisitor& visitor);
};

struct DataGenerateOptions {
  std::string shape;
  std::string out;
  std::string to = "auto";
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t nonzeros = 0;
  std::int64_t classes = 0;
  std::int64_t seed = 1;

  void Visit(OptionVisitor& visitor);
};

struct DataFetchOptions {
  std::string set;
  std::string out = ".";
  std::string from;
  double timeout = 30;
  bool quiet = false;

  void Visit(OptionVisitor& visitor);
};

struct InspectOptions {
  std::string path;
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct DevicesOptions {
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

// Text to print, such as help or the version, instead of running a command.
struct PrintText {
  std::string text;
};

using Command = std::variant<PrintText, TrainOptions, QueueCommandOptions, SweepCommandOptions,
                             EvalOptions, PredictOptions, ReportOptions, ExportOptions,
                             CompareOptions, DataInfoOptions, DataConvertOptions, DataSplitOptions,
                             DataGenerateOptions, DataFetchOptions, InspectOptions, DevicesOptions>;

}  // namespace hogbatch
