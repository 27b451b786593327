// The options of each command.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compare/spec.h"
#include "core/options.h"
#include "training/spec.h"

namespace hogbatch {

struct TrainOptions {
  TrainingSpec spec;
  std::string out;
  bool quiet = false;
  bool json = false;
  bool report = false;
  std::string trace;
  bool tensorboard = false;
  double checkpoint_every = 30;
  std::string resume;

  std::vector<std::string> given;  // names of the options on the command line

  void Visit(OptionVisitor& visitor);
};

struct EvalOptions {
  std::string model;
  std::string data;
  std::string labels;
  std::string missing_columns = "refuse";
  std::string memory_limit = "auto";
  std::string devices = "auto";
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct PredictOptions {
  std::string model;
  std::string data;
  std::string missing_columns = "refuse";
  std::string memory_limit = "auto";
  std::string devices = "auto";
  std::string out;
  bool probabilities = false;
  std::int64_t top = 0;

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

struct DevicesOptions {
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

// Text to print, such as help or the version, instead of running a command.
struct PrintText {
  std::string text;
};

using Command = std::variant<PrintText, TrainOptions, EvalOptions, PredictOptions, ReportOptions,
                             ExportOptions, CompareOptions, DevicesOptions>;

}  // namespace hogbatch
