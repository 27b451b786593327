// What a user may ask of each command; defaults, ranges and help stand here and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/adaptive_options.h"
#include "algorithms/batch_range.h"
#include "core/options.h"
#include "nn/learning_rate.h"
#include "nn/optimizer.h"

namespace hogbatch {

struct TrainOptions {
  std::string data;  // empty: the data set that ships with the program

  std::string test;
  std::string label = "auto";
  std::string positive;
  std::string scale = "auto";
  double valid_fraction = 0.1;
  std::string class_weights = "none";

  std::vector<std::int64_t> hidden = {512, 512};
  std::string activation = "relu";
  std::string loss = "auto";
  std::string init = "auto";

  LearningRateOptions rate;
  OptimizerOptions optimizer;

  std::string algorithm = "auto";
  std::string devices = "auto";
  std::string merge = "delta";
  std::int64_t merge_rows = 256;
  BatchOptions batch;
  AdaptiveOptions adaptive;
  double min_utilization = 0.5;
  bool no_pin = false;

  double epochs = 5;
  std::string max_time;
  double target_loss = 0;
  std::int64_t patience = 0;

  double eval_every = 1;
  double report_every = 1;
  std::int64_t seed = 1;
  std::string out;
  bool quiet = false;
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct EvalOptions {
  std::string model;
  std::string data;
  std::string devices = "auto";
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

struct PredictOptions {
  std::string model;
  std::string data;
  std::string devices = "auto";
  std::string out;
  bool probabilities = false;
  std::int64_t top = 0;

  void Visit(OptionVisitor& visitor);
};

struct DevicesOptions {
  bool json = false;

  void Visit(OptionVisitor& visitor);
};

// Help or a version number: to be printed, and that is all.
struct PrintText {
  std::string text;
};

using Command = std::variant<PrintText, TrainOptions, EvalOptions, PredictOptions, DevicesOptions>;

}  // namespace hogbatch
