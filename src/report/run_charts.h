// The charts of one run, or of several over each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_record.h"

namespace hogbatch::report {

// Loss and metric, each against time and against epochs.
std::vector<std::string> LearningCharts(std::span<const RunRecord> runs);
// Rows per second and batch sizes over time.
std::vector<std::string> SpeedCharts(std::span<const RunRecord> runs);
// Shares of updates and staleness.
std::vector<std::string> TeamworkCharts(std::span<const RunRecord> runs);
// How busy each worker was over time; nothing if the run does not tell.
std::string UtilizationTimeline(const RunRecord& run, int colour);

// The metric that a reader asks for first: "accuracy", "precision_at_1" or "rmse"; empty: none.
std::string MainMetric(std::span<const RunRecord> runs);
// "precision@1" for "precision_at_1".
std::string MetricTitle(const std::string& metric);

}  // namespace hogbatch::report
