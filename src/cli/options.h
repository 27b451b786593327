// What a user may ask of each command.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/options.h"
#include "training/spec.h"

namespace hogbatch {

struct TrainOptions {
  TrainingSpec spec;
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

struct ExportOptions {
  TrainingSpec spec;
  std::string out;
  std::vector<std::int64_t> init_seeds;

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

using Command = std::variant<PrintText, TrainOptions, EvalOptions, PredictOptions, ExportOptions,
                             DevicesOptions>;

}  // namespace hogbatch
