#include "cli/reports/introduce.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string_view>

#include "cli/reports/team_report.h"
#include "core/text.h"
#include "training/model/model_file.h"
#include "training/plan_notes.h"

namespace hogbatch {
namespace {

std::string LabelsText(const Schema& schema) {
  if (schema.label_kind == LabelKind::kValue) return "a number to predict";
  if (!schema.positive.empty()) return fmt::format("{} against the rest", schema.positive);
  return fmt::format("{} {}", Grouped(schema.outputs()),
                     schema.label_kind == LabelKind::kClass ? "classes" : "labels");
}

// "label price (last), ": which column of a CSV was taken for the label.
std::string LabelColumnText(const Schema& schema) {
  if (schema.format != FileFormat::kCsv) return "";
  const std::string& column = schema.label_column;
  const std::string& name = schema.label_name;
  if (column == name) return fmt::format("label {}, ", name);
  const bool is_number = column.find_first_not_of("0123456789") == std::string::npos;
  const std::string where =
      is_number ? fmt::format("column {}", column) : column + (name.empty() ? " column" : "");
  return name.empty() ? fmt::format("label {}, ", where)
                      : fmt::format("label {} ({}), ", name, where);
}

std::string DataLine(const TrainingData& training) {
  const Dataset& data = training.data;
  const auto megabytes = static_cast<double>(data.bytes()) / 1e6;
  std::string line = fmt::format(
      "data      {}: {} training rows, {} validation rows, {} ({}), {}{}, {}", data.source,
      Grouped(training.train_rows), Grouped(data.rows - training.train_rows),
      Plural(data.features, "feature", "features"), data.is_sparse ? "sparse" : "dense",
      LabelColumnText(training.schema), LabelsText(training.schema),
      data.bytes() == 0 ? "from the cache" : fmt::format("{:.3g} MB", megabytes));
  if (training.schema.scaling == ScalingKind::kAuto) {
    line += ", standardised, except columns that are mostly 0";
  } else if (training.schema.scaling == ScalingKind::kStandard) {
    line += ", standardised";
  } else if (training.schema.scaling != ScalingKind::kNone) {
    line += fmt::format(", scaled by {}", Name(training.schema.scaling));
  }
  return line;
}

std::string NetworkLine(const ModelSpec& spec) {
  return fmt::format("network   {}, {}, {} parameters, {} loss", WidthsText(spec),
                     spec.hidden.empty() ? "linear" : Name(spec.activation),
                     Grouped(Layout(spec).parameters), Name(spec.loss));
}

// "cpu.0 to cpu.3", "cuda.0, cuda.2": cores are taken from the first on, GPUs as they are named.
std::string NamesText(std::span<const DeviceChoice> alike) {
  std::string text = alike.front().info.name;
  if (alike.front().info.kind == DeviceKind::kCpu) {
    return alike.size() == 1 ? text : fmt::format("{} to {}", text, alike.back().info.name);
  }
  for (const DeviceChoice& choice : alike.subspan(1)) text += ", " + choice.info.name;
  return text;
}

// "1 to 64 rows" for an algorithm that adapts, "16 rows" for one that does not.
std::string RowsText(const TrainingPlan& plan, DeviceKind kind) {
  const BatchRange& range =
      kind == DeviceKind::kCpu ? plan.batches.cpu_batch : plan.batches.gpu_batch;
  if (plan.adapts() && range.min < range.max) {
    return fmt::format("{} to {} rows", range.min, range.max);
  }
  const std::int64_t rows = FixedBatchSize(range, kind);
  return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
}

// "cpu.0 to cpu.3 (AMD EPYC), 16 rows per update": equal neighbours are joined.
std::string TeamsText(const TrainingPlan& plan) {
  const auto& devices = plan.work.devices;
  std::string text;
  for (std::size_t begin = 0, end; begin < devices.size(); begin = end) {
    const DeviceInfo& first = devices[begin].info;
    end = begin + 1;
    while (end < devices.size() && devices[end].info.kind == first.kind &&
           devices[end].info.description == first.description) {
      ++end;
    }
    text += fmt::format("{}{} ({}), {} per update", text.empty() ? "" : "; ",
                        NamesText(std::span(devices).subspan(begin, end - begin)),
                        first.description, RowsText(plan, first.kind));
  }
  return text;
}

std::string TrainingLine(const TrainingSpec& spec, const TrainingPlan& plan) {
  const bool merges = plan.merge != Merge::kDelta && CountWorkers(plan.work.devices).gpu > 0;
  return fmt::format("training  {} on {}{}, {}, learning rate {:g} ({})", plan.algorithm,
                     TeamsText(plan), merges ? fmt::format(", merged by {}", spec.merge) : "",
                     plan.work.optimizer.optimizer, plan.learning_rate.lr,
                     plan.learning_rate.lr_schedule);
}

// "measured  opencl.0: 128 rows per update reach 50 % of its best throughput, 4,100 rows/s (at
// 2,048)"
std::string CalibrationLine(const CalibratedGpu& gpu, double utilization) {
  return fmt::format(
      "measured  {}: {} per update reach {:.3g} % of its best throughput, {} rows/s (at "
      "{}){}",
      gpu.name, Plural(gpu.bound.rows, "row", "rows"), 100 * utilization,
      Grouped(std::llround(gpu.bound.best.rows_per_second)), Grouped(gpu.bound.best.rows),
      gpu.cached ? " (cached)" : "");
}

std::string SplitText(std::string_view split, const std::optional<EvaluationSums>& sums,
                      const MetricScale& scale) {
  if (!sums || sums->rows == 0) return "";
  std::string text = fmt::format("  {} loss {:.4f}", split, sums->mean_loss());
  for (const Metric& metric : MetricsOf(*sums, scale)) {
    text += " " + Text(metric);
  }
  return text;
}

std::string_view ReasonText(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
    case StopReason::kEpochs:
      return "all epochs are done";
    case StopReason::kMaxTime:
      return "the time is up";
    case StopReason::kTargetLoss:
      return "the target loss is reached";
    case StopReason::kPatience:
      return "the model no longer improves";
    case StopReason::kPaused:
      return "it pauses";
    case StopReason::kInterrupted:
      return "it was interrupted";
    case StopReason::kDiverged:
      return "training diverged";
    case StopReason::kNoWorkers:
      break;
  }
  return "no worker is left";
}

}  // namespace

std::vector<std::string> DataLines(const TrainingInput& input) {
  std::vector<std::string> lines = {DataLine(input.training)};
  const std::vector<std::string>& read = input.training.data.notes;
  lines.insert(lines.end(), read.begin(), read.end());
  if (input.test) {
    lines.push_back(
        fmt::format("test      {}: {} rows", input.test->source, Grouped(input.test->rows)));
    lines.insert(lines.end(), input.test->notes.begin(), input.test->notes.end());
  }
  return lines;
}

std::vector<std::string> IntroductionLines(const TrainingSpec& spec, const TrainingPlan& plan,
                                           const TrainingInput& input, const std::string& folder) {
  std::vector<std::string> lines = DataLines(input);
  lines.push_back(NetworkLine(plan.work.model));
  lines.push_back(TrainingLine(spec, plan));
  lines.push_back(fmt::format("results   {}", folder));
  for (const std::string& note : NotesOn(spec, plan)) lines.push_back("note      " + note);
  for (const CalibratedGpu& gpu : plan.calibrated) {
    lines.push_back(CalibrationLine(gpu, spec.min_utilization));
  }
  return lines;
}

std::vector<std::string> ConclusionLines(const TrainedModel& trained, const MetricScale& scale,
                                         const std::string& folder) {
  const RunResult& run = trained.run;
  const Progress& totals = run.totals;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("stopped   {}; epoch {:.4g}, {} updates, {}",
                              ReasonText(run.stopped_because), totals.epoch,
                              Grouped(totals.updates), ShortTime(totals.seconds)));
  const std::vector<std::string> teams = TeamLines(totals);
  lines.insert(lines.end(), teams.begin(), teams.end());
  if (!trained.model) return lines;
  if (run.saved) {
    lines.push_back(fmt::format("saved     the model of epoch {:.4g}{}{}{}", run.saved->epoch,
                                SplitText("train", run.saved->train, scale),
                                SplitText("valid", run.saved->valid, scale),
                                SplitText("test", run.saved->test, scale)));
  }
  lines.push_back(fmt::format("model     {}", ModelPath(folder)));
  return lines;
}

bool NeverImproved(const RunResult& run) {
  return run.rate_factor < 1 && run.saved && run.saved->epoch == 0;
}

std::string DivergenceAdvice(const TrainedModel& trained, double learning_rate) {
  const RunResult& run = trained.run;
  const std::string tried = run.rate_factor < 1 ? fmt::format(", even at a learning rate of {:g}",
                                                              learning_rate * run.rate_factor)
                                                : "";
  const std::string saved =
      !trained.model
          ? std::string("no model was saved")
          : fmt::format("the best model before that{} was saved",
                        run.saved ? fmt::format(" (epoch {:.4g})", run.saved->epoch) : "");
  const std::string what =
      run.stopped_because == StopReason::kDiverged
          ? fmt::format("training diverged at epoch {:.4g}{}; it stopped, and {}", run.totals.epoch,
                        tried, saved)
          : "training diverged, and no model after that is better than the initial one, which was "
            "saved";
  return fmt::format(
      "{}; try a lower learning rate such as --lr {:g}, --warmup 1, or --scale standard", what,
      learning_rate * run.rate_factor / 10);
}

}  // namespace hogbatch
