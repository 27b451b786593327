#include "cli/introduce.h"

#include <fmt/format.h>

#include <span>

#include "algorithms/algorithms.h"

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

// "cpu.0 to cpu.3 (AMD EPYC), 16 rows per update": neighbours that are alike in one breath.
std::string TeamsText(const TrainPlan& plan) {
  const auto& devices = plan.devices;
  std::string text;
  for (std::size_t begin = 0, end; begin < devices.size(); begin = end) {
    const DeviceInfo& first = devices[begin].info;
    end = begin + 1;
    while (end < devices.size() && devices[end].info.kind == first.kind &&
           devices[end].info.description == first.description) {
      ++end;
    }
    const std::int64_t rows = FixedRows(plan.batches, first.kind);
    text += fmt::format("{}{} ({}), {} row{} per update", text.empty() ? "" : "; ",
                        NamesText(std::span(devices).subspan(begin, end - begin)),
                        first.description, rows, rows == 1 ? "" : "s");
  }
  return text;
}

std::string TrainingLine(const TrainOptions& options, const TrainPlan& plan) {
  return fmt::format("training  {} on {}, {}, rate {:g} ({})", options.algorithm, TeamsText(plan),
                     options.optimizer.optimizer, options.rate.lr, options.rate.lr_schedule);
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
  if (FixedRows(plan.batches, DeviceKind::kCpu) == 1 &&
      AsynchronousWorkers(options.algorithm, CountWorkers(plan).cpu) > 1) {
    lines.emplace_back(
        "note      at one row per update, cores that write the same weights hinder each other and "
        "can be slower together than one alone");
  }
  return lines;
}

std::vector<std::string> ConclusionLines(const RunResult& result, const QualityScale& scale,
                                         const std::string& folder) {
  const Progress& totals = result.totals;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("stopped   {}; epoch {:.4g}, {} updates, {}",
                              ReasonText(result.stopped_because), totals.epoch,
                              Grouped(totals.updates), ShortTime(totals.seconds)));
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
