#include "cli/introduce.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

#include "algorithms/algorithms.h"
#include "cli/team_report.h"

namespace hogbatch {
namespace {

std::string LabelsText(const Schema& schema) {
  if (schema.label_kind == LabelKind::kValue) return "a number to learn";
  if (!schema.positive.empty()) return fmt::format("{} against the rest", schema.positive);
  return fmt::format("{} {}", Grouped(schema.outputs()),
                     schema.label_kind == LabelKind::kClass ? "classes" : "labels");
}

std::string DataLine(const TrainingData& training) {
  const Dataset& data = training.data;
  std::string line = fmt::format(
      "data      {}: {} training rows, {} validation rows, {} features ({}), {}, {:.3g} MB",
      data.source, Grouped(training.train_rows), Grouped(data.rows - training.train_rows),
      Grouped(data.features), data.is_sparse ? "sparse" : "dense", LabelsText(training.schema),
      static_cast<double>(data.bytes()) / 1e6);
  if (training.schema.scaling != ScalingKind::kNone) {
    line += fmt::format(", scaled by {}", Name(training.schema.scaling));
  }
  return line;
}

std::string NetworkLine(const ModelSpec& spec) {
  std::string widths = fmt::format("{}", spec.inputs);
  for (const std::int64_t width : spec.hidden) widths += fmt::format(" -> {}", width);
  return fmt::format("network   {} -> {}, {}, {} parameters, {} loss", widths, spec.outputs,
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
std::string RowsText(const TrainOptions& options, const TrainPlan& plan, DeviceKind kind) {
  const BatchRange& range = plan.batches.range_of(kind);
  if (Adapts(options, plan) && range.min < range.max) {
    return fmt::format("{} to {} rows", range.min, range.max);
  }
  const std::int64_t rows = FixedBatchSize(range, kind);
  return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
}

// "cpu.0 to cpu.3 (AMD EPYC), 16 rows per update": neighbours that are alike in one breath.
std::string TeamsText(const TrainOptions& options, const TrainPlan& plan) {
  const auto& devices = plan.devices;
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
                        first.description, RowsText(options, plan, first.kind));
  }
  return text;
}

std::string TrainingLine(const TrainOptions& options, const TrainPlan& plan) {
  const bool merges = options.merge != "delta" && CountWorkers(plan).gpu > 0;
  return fmt::format("training  {} on {}{}, {}, rate {:g} ({})", options.algorithm,
                     TeamsText(options, plan),
                     merges ? fmt::format(", merged by {}", options.merge) : "",
                     options.optimizer.optimizer, options.rate.lr, options.rate.lr_schedule);
}

// What was asked and has no effect here, or another than one may think.
std::vector<std::string> Notes(const TrainOptions& options, const TrainPlan& plan) {
  const std::string& algorithm = options.algorithm;
  const AlgorithmTraits& traits = FindAlgorithm(algorithm).traits;
  std::vector<std::string> notes;
  const TrainOptions usual;
  if (FixedBatchSize(plan.batches, DeviceKind::kCpu) == 1 &&
      AsynchronousWorkers(traits, CountWorkers(plan).cpu) > 1) {
    notes.emplace_back(
        "note      at one row per update, cores that write the same weights hinder each other and "
        "can be slower together than one alone");
  }
  if (options.merge != usual.merge && CountWorkers(plan).gpu == 0) {
    notes.push_back(
        fmt::format("note      --merge {} is for GPUs; cores write the shared weights in place",
                    options.merge));
  }
  if (options.merge_rows != usual.merge_rows) {
    const bool has_state = options.optimizer.optimizer == "adam" ||
                           MomentumToApply(options, CountWorkers(plan).all()) > 0;
    if (CountWorkers(plan).gpu == 0) {
      notes.emplace_back(
          "note      --merge-rows is for GPUs; cores write each update as it is made");
    } else if (traits.synchronous || has_state) {
      notes.push_back(fmt::format("note      --merge-rows has no effect with {}",
                                  traits.synchronous ? algorithm : "an optimiser that has state"));
    }
  }
  if (traits.adapts_batch_size && !Adapts(options, plan)) {
    notes.emplace_back(
        "note      adaptive balances cores and GPUs; with one of them alone, rows per update stay");
  } else if (!traits.adapts_batch_size && options.adaptive != usual.adaptive) {
    notes.push_back(fmt::format(
        "note      --alpha, --beta and --adapt-band are for --algorithm adaptive; {} keeps its "
        "rows per update",
        algorithm));
  }
  return notes;
}

std::string SplitText(std::string_view split, const std::optional<EvaluationSums>& sums,
                      const QualityScale& scale) {
  if (!sums || sums->rows == 0) return "";
  std::string text = fmt::format("  {} loss {:.4f}", split, sums->mean_loss());
  for (const Quality& quality : Qualities(*sums, scale)) {
    text += " " + Text(quality);
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
      return "the model no longer gets better";
    case StopReason::kInterrupted:
      return "it was interrupted";
    case StopReason::kDiverged:
      return "the loss is no number any more";
    case StopReason::kNoWorkers:
      break;
  }
  return "no worker is left";
}

}  // namespace

std::vector<std::string> IntroductionLines(const TrainOptions& options, const TrainPlan& plan,
                                           const TrainingData& training, const Dataset* test,
                                           const ModelSpec& spec, const std::string& folder) {
  std::vector<std::string> lines = {DataLine(training)};
  if (test) {
    lines.push_back(fmt::format("test      {}: {} rows", test->source, Grouped(test->rows)));
  }
  lines.push_back(NetworkLine(spec));
  lines.push_back(TrainingLine(options, plan));
  lines.push_back(fmt::format("results   {}", folder));
  const std::vector<std::string> notes = Notes(options, plan);
  lines.insert(lines.end(), notes.begin(), notes.end());
  return lines;
}

std::vector<std::string> ConclusionLines(const RunResult& result, const QualityScale& scale,
                                         const std::string& folder) {
  const Progress& totals = result.totals;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("stopped   {}; epoch {:.4g}, {} updates, {}",
                              ReasonText(result.stopped_because), totals.epoch,
                              Grouped(totals.updates), ShortTime(totals.seconds)));
  const std::vector<std::string> teams = TeamLines(totals);
  lines.insert(lines.end(), teams.begin(), teams.end());
  if (result.parameters.empty()) return lines;
  if (result.saved) {
    lines.push_back(fmt::format("saved     the model of epoch {:.4g}{}{}{}", result.saved->epoch,
                                SplitText("train", result.saved->train, scale),
                                SplitText("valid", result.saved->valid, scale),
                                SplitText("test", result.saved->test, scale)));
  }
  lines.push_back(fmt::format("model     {}/model.safetensors", folder));
  return lines;
}

std::string DivergenceAdvice(const RunResult& result, double rate) {
  const std::string saved =
      result.parameters.empty()
          ? std::string("no model was saved")
          : fmt::format("the best model before that{} was saved",
                        result.saved ? fmt::format(" (epoch {:.4g})", result.saved->epoch) : "");
  return fmt::format(
      "the loss became NaN or infinite at epoch {:.4g}, so training stopped and {}; try a lower "
      "rate such as --lr {:g}, --warmup 1, or --scale standard",
      result.totals.epoch, saved, rate / 10);
}

}  // namespace hogbatch
