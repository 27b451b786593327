// What a run records while it goes on: metrics.jsonl, and what else was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/options/options.h"
#include "nn/metric_values.h"
#include "report/event_file.h"
#include "report/trace_file.h"
#include "runtime/control/progress.h"

namespace hogbatch {

// What TensorBoard shows of a report. An evaluation has its losses and metrics, any other report
// the rest: each tag then has its steps in order.
std::vector<report::Scalar> ScalarsOf(const Progress& progress, const MetricScale& scale);

class TrainRecords {
 public:
  TrainRecords(const std::string& folder, const TrainOptions& options, MetricScale scale,
               GrowingFile::Begin begin = GrowingFile::Begin::kEmpty);

  // Throws Error when the disk is full.
  void Add(const Progress& progress);

  // Of all reports, if a trace was asked for.
  const std::vector<report::ThroughputSample>& throughput() const { return throughput_; }

 private:
  void AddToEvents(const Progress& progress);

  GrowingFile metrics_;
  std::optional<GrowingFile> events_;
  MetricScale scale_;
  double started_;  // seconds since 1970
  bool traced_;
  std::vector<report::ThroughputSample> throughput_;
};

}  // namespace hogbatch
