// What is known of a trial, and the records of a sweep: trials.jsonl, trials.csv and sweep.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/metric_values.h"
#include "runtime/control/progress.h"
#include "training/queue/job_outcome.h"
#include "training/sweep/trials.h"

namespace hogbatch {

using TrialState = JobOutcome;
// It diverged or failed.
bool EndedBadly(TrialState state);

// One evaluation. What was not measured is NaN.
struct TrialPoint {
  double epoch = 0;
  double seconds = 0;  // of training
  double train_loss = 0;
  double valid_loss = 0;
  double valid_metric = 0;
  double test_loss = 0;
  double test_metric = 0;
};
TrialPoint PointOf(const Evaluation& evaluation, double seconds, const MetricScale& scale);

// The model in model.safetensors.
struct BestModel {
  double loss = std::numeric_limits<double>::infinity();  // of validation; infinite: there is none
  std::optional<std::size_t> trial = {};                  // none: a sweep of old did not record it
};

struct TrialResult {
  TrialState state = TrialState::kWaiting;
  std::vector<double> rung_losses = {};  // the best validation loss at the end of each rung so far
  std::vector<TrialPoint> curve = {};
  double epoch = 0;
  double seconds = 0;  // of training
  std::int64_t examples = 0;
  std::string note = {};  // why it ended, or what went wrong

  // The evaluation with the lowest validation loss; null: there is none.
  const TrialPoint* best() const;
};

// The places of the results, the best validation loss first; then those that diverged or failed,
// whatever loss they had before, and those without one.
std::vector<std::size_t> Ranking(std::span<const TrialResult> results);

// The name of the metric, such as "accuracy", and all trials with their results.
struct SweepResults {
  std::string metric;
  std::span<const Trial> trials;
  std::span<const TrialResult> results;
};
// A trial as a line of JSON.
std::string TrialJson(const SweepResults& sweep, std::size_t trial);
// The lines of all trials, in their order.
std::string TrialsJsonl(const SweepResults& sweep);
// UserError, which names `source`, if the text does not belong to these trials and `rungs`.
std::vector<TrialResult> ParseTrialsJsonl(std::string_view text, std::span<const Trial> trials,
                                          std::size_t rungs, const std::string& source);
// One line per trial, the best first.
std::string TrialsCsv(const SweepResults& sweep);

// What --resume needs to know of a sweep, as JSON.
struct SweepRecord {
  OptionTexts options;  // SweptOptions::Texts
  OptionTexts search;   // SearchOptions
  std::string rows;     // Fingerprint of the input
  double seconds = 0;   // that the sweep has run
  BestModel best = {};
};
std::string SweepText(const SweepRecord& record);
// UserError, which names `source`, for a text of a newer program, or none of a sweep.
SweepRecord ParseSweep(std::string_view text, const std::string& source);

}  // namespace hogbatch
