// The result of an evaluation, as lines to read and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/reports/live_line.h"
#include "core/evaluation.h"
#include "nn/classification.h"
#include "training/importance.h"

namespace hogbatch {

// Classes only.
struct ClassReport {
  ConfusionMatrix confusion;
  std::optional<double> auc = {};
  double calibration_error = 0;
  std::vector<std::string> names;
};

struct EvalReport {
  EvaluationSums sums;
  MetricScale scale;
  std::vector<Metric> more = {};  // of labels or numbers
  std::optional<ClassReport> classes = {};
  std::vector<EvaluationSums> members = {};       // of an ensemble
  std::vector<ColumnImportance> importance = {};  // the most important first
};

std::string EvalText(const EvalReport& report);
std::string EvalJson(const EvalReport& report);

}  // namespace hogbatch
