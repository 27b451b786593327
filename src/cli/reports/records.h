// What a run leaves behind in JSON: metrics.jsonl, summary.json and options.json. A number that was
// not measured, or is not finite, has no key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/reports/live_line.h"
#include "runtime/control/progress.h"
#include "training/plan.h"

namespace hogbatch {

// One line of metrics.jsonl, without its newline. With a single worker, shares and staleness are
// left out.
std::string MetricsLine(const Progress& progress, const MetricScale& scale);

// What summary.json contains besides the result.
struct SummaryFacts {
  std::string algorithm;
  std::vector<std::string> devices = {};
  std::int64_t seed = 0;
  std::int64_t parameters = 0;
  std::string out;
};
// Losses and qualities are the saved model's; counts and seconds are the run's totals.
std::string SummaryText(const RunResult& result, const SummaryFacts& facts,
                        const MetricScale& scale);

// Where, when and on what a run trains. What it refers to outlives it.
struct RunSetting {
  std::string started;  // "2026-11-17 12:30:00", local time
  const Devices& devices;
  const TrainingInput& input;
};
// Every option by name. Where the user left the choice, with what the plan chose; and the setting.
std::string OptionsText(const TrainOptions& options, const TrainingPlan& plan,
                        const RunSetting& setting);

}  // namespace hogbatch
