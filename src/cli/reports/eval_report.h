// The result of an evaluation, as lines to read and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/reports/live_line.h"
#include "core/evaluation.h"
#include "nn/classification.h"

namespace hogbatch {

// Classes only.
struct ClassReport {
  ConfusionMatrix confusion;
  std::optional<double> auc = {};
  std::vector<std::string> names;
};

struct EvalReport {
  EvaluationSums sums;
  MetricScale scale;
  std::optional<ClassReport> classes = {};
};

std::string EvalText(const EvalReport& report);
std::string EvalJson(const EvalReport& report);

}  // namespace hogbatch
