// The options of each command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedulers/schedulers.h"
#include "compare/spec.h"
#include "core/options.h"
#include "training/checkpoint/checkpoint_options.h"
#include "training/reading_options.h"
#include "training/spec.h"
#include "training/sweep/sweep_spec.h"

namespace hogbatch {

// Shows the arguments of a command that are not options; `name` stands for them in --help. They are
// kept as text, or as the lines of one text.
class ArgumentVisitor {
 public:
  virtual ~ArgumentVisitor() = default;
  virtual void One(const char* name, std::string& value, const std::string& help) = 0;
  virtual void Files(const char* name, std::string& value, const std::string& help) = 0;
  virtual void Folders(const char* name, std::vector<std::string>& values,
                       const std::string& help) = 0;
};

// What a command shows while it runs, and whether its result is printed as JSON.
struct TerminalOptions {
  bool quiet = false;
  bool json = false;

  // `what`: "the summary".
  void Visit(OptionVisitor& visitor, std::string_view what);
};

// Each command's options: Visit shows them, and Arguments what stands without dashes. `given` has
// the names of those that the user gave.

struct TrainOptions {
  TrainingSpec spec;
  std::int64_t ensemble = 0;
  std::int64_t folds = 0;
  std::string out;
  TerminalOptions terminal;
  bool report = false;
  std::string trace;
  bool tensorboard = false;
  CheckpointOptions checkpoints;
  std::string resume;

  std::vector<std::string> given;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct QueueCommandOptions {
  std::string jobs;
  std::string scheduler = std::string(DefaultScheduler().name);
  SchedulerOptions scheduling;
  std::string devices = kDevicesByDefault;
  std::string out;
  std::string watch;
  std::string resume;
  std::string retry;
  CheckpointOptions checkpoints;
  TerminalOptions terminal;

  std::vector<std::string> given;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct SweepCommandOptions {
  SweptOptions training;
  SearchOptions search;
  std::string out;
  std::string resume;
  CheckpointOptions checkpoints;
  TerminalOptions terminal;

  std::vector<std::string> given;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

// What eval and predict have in common.
struct ModelAndRows {
  std::string model;
  std::string data;
  ReadingOptions reading;
  std::string devices = kDevicesByDefault;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
  // UserError unless both are named.
  void Require(const char* command, const char* example) const;
};

struct EvalOptions {
  ModelAndRows of;
  bool importance = false;
  bool json = false;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor) { of.Arguments(visitor); }
};

struct PredictOptions {
  ModelAndRows of;
  std::string out;
  bool probabilities = false;
  std::int64_t top = 0;
  double threshold = 0;
  bool json = false;
  bool with_input = false;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor) { of.Arguments(visitor); }
};

struct ReportOptions {
  std::vector<std::string> runs;  // folders, each as DIR or NAME=DIR
  std::string out;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct ExportOptions {
  TrainingSpec spec;
  std::string onnx;
  std::string out;
  std::vector<std::int64_t> init_seeds;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct CompareOptions {
  compare::CompareSpec spec;
  TerminalOptions terminal;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct DataInfoOptions {
  TrainingSpec spec;
  bool json = false;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct DataConvertOptions {
  TrainingSpec spec;
  std::string out;
  std::string to = "auto";

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct DataSplitOptions {
  TrainingSpec spec;
  std::string out_train;
  std::string out_test;
  double test_fraction = 0.2;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
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
  void Arguments(ArgumentVisitor& visitor);
};

struct DataFetchOptions {
  std::string set;
  std::string out = ".";
  std::string from;
  double timeout = 30;
  bool quiet = false;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct InspectOptions {
  std::string path;
  bool json = false;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor& visitor);
};

struct DevicesOptions {
  bool json = false;

  void Visit(OptionVisitor& visitor);
  void Arguments(ArgumentVisitor&) {}
};

}  // namespace hogbatch
