#include "cli/reports/train_records.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "cli/reports/records.h"
#include "report/record_format.h"

namespace hogbatch {
namespace {

double SecondsSince1970() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

void AddFinite(std::vector<report::Scalar>& scalars, std::string tag, double value) {
  if (std::isfinite(value)) scalars.push_back({std::move(tag), value});
}

void AddSplit(std::vector<report::Scalar>& scalars, const char* split,
              const std::optional<EvaluationSums>& sums, const MetricScale& scale) {
  if (!sums || sums->rows == 0) return;
  AddFinite(scalars, fmt::format("loss/{}", split), sums->mean_loss());
  for (const Metric& metric : MetricsOf(*sums, scale)) {
    AddFinite(scalars, fmt::format("{}/{}", metric.name, split), metric.value);
  }
}

}  // namespace

std::vector<report::Scalar> ScalarsOf(const Progress& progress, const MetricScale& scale) {
  std::vector<report::Scalar> scalars;
  if (progress.evaluation) {
    AddSplit(scalars, "train", progress.evaluation->train, scale);
    AddSplit(scalars, "valid", progress.evaluation->valid, scale);
    AddSplit(scalars, "test", progress.evaluation->test, scale);
    return scalars;
  }
  if (progress.running_loss) AddFinite(scalars, "loss/running", *progress.running_loss);
  AddFinite(scalars, "examples_per_second", progress.examples_per_second);
  AddFinite(scalars, "epoch", progress.epoch);
  for (const WorkerTotals& worker : progress.workers) {
    if (worker.batch_size == 0) continue;  // it has not trained yet
    AddFinite(scalars, fmt::format("batch_size/{}", worker.name),
              static_cast<double>(worker.batch_size));
  }
  return scalars;
}

TrainRecords::TrainRecords(const std::string& folder, const TrainOptions& options,
                           MetricScale scale, GrowingFile::Begin begin)
    : metrics_(folder + "/" + report::kMetricsFile, begin),
      scale_(scale),
      started_(SecondsSince1970()),
      traced_(!options.trace.empty()) {
  if (!options.tensorboard) return;
  const std::string events = fmt::format("{}/{}", folder, kEventFile);
  if (begin == GrowingFile::Begin::kWhereItEnds) report::CutEvents(events);
  events_.emplace(events, begin);
  events_->Append(report::FirstEvent(started_));
}

void TrainRecords::Add(const Progress& progress) {
  metrics_.Append(MetricsLine(progress, scale_) + "\n");
  if (events_) AddToEvents(progress);
  if (traced_) throughput_.push_back({progress.seconds, progress.examples_per_second});
}

void TrainRecords::AddToEvents(const Progress& progress) {
  const std::vector<report::Scalar> scalars = ScalarsOf(progress, scale_);
  if (scalars.empty()) return;
  events_->Append(report::ScalarsEvent(started_ + progress.seconds, progress.updates, scalars));
}

}  // namespace hogbatch
