#include "cli/sweep/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/reports/live_line.h"
#include "cli/sweep/fold_report.h"
#include "core/guard/json_text.h"
#include "core/guard/printable.h"
#include "core/option_values.h"
#include "core/text.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

std::string Measured(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-";
}

bool HasTest(const SweepResults& sweep) {
  return std::ranges::any_of(sweep.results, [](const TrialResult& result) {
    return !result.curve.empty() && std::isfinite(result.curve.back().test_loss);
  });
}

std::size_t Count(const SweepResults& sweep, TrialState state) {
  return static_cast<std::size_t>(std::ranges::count(sweep.results, state, &TrialResult::state));
}

}  // namespace

// fmt measures a text by its characters, not by its bytes.
std::vector<std::string> Aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], CountCharacters(row[i]));
    }
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", row[i], widths[i]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> TrialTable(const SweepResults& sweep, std::size_t most) {
  const bool has_test = HasTest(sweep);
  std::vector<std::vector<std::string>> rows = {
      {"trial", "state", "epoch", "loss", sweep.metric, "time"}};
  if (has_test) rows[0].insert(rows[0].begin() + 5, "test " + sweep.metric);
  for (const auto& [name, value] : sweep.trials.front().values) rows[0].push_back(name);
  for (const std::size_t i : Ranking(sweep.results)) {
    if (rows.size() > most) break;
    const TrialResult& result = sweep.results[i];
    const TrialPoint* const best = result.best();
    if (!best && result.state == TrialState::kWaiting) break;
    std::vector<std::string> row = {fmt::format("{}", i + 1),
                                    std::string(Name(result.state)),
                                    fmt::format("{:.4g}", result.epoch),
                                    best ? Measured(best->valid_loss) : "-",
                                    best ? Measured(best->valid_metric) : "-",
                                    ShortTime(result.seconds)};
    if (has_test) row.insert(row.begin() + 5, best ? Measured(best->test_metric) : "-");
    for (const auto& [name, value] : sweep.trials[i].values) row.push_back(value);
    rows.push_back(std::move(row));
  }
  return Aligned(rows);
}

std::string TrialLine(const SweepResults& sweep, std::size_t trial) {
  const TrialResult& result = sweep.results[trial];
  std::string line =
      fmt::format("trial {:<4}{:8} epoch {:.4g}", trial + 1, Name(result.state), result.epoch);
  if (const TrialPoint* const best = result.best()) {
    line += fmt::format("  valid loss {:.4f}", best->valid_loss);
    if (std::isfinite(best->valid_metric)) {
      line += " " + Text({.name = sweep.metric, .value = best->valid_metric});
    }
  }
  line += fmt::format("  {}", ShortTime(result.seconds));
  const std::string options = TrialText(sweep.trials[trial]);
  return options.empty() ? line : fmt::format("{}  {}", line, options);
}

std::string SweepProgressLine(const SweepResults& sweep, std::optional<double> seconds_left) {
  std::string line =
      fmt::format("{} of {} trials done", Count(sweep, TrialState::kDone), sweep.trials.size());
  constexpr std::array kShown = {TrialState::kRunning, TrialState::kStopped,
                                 TrialState::kInterrupted, TrialState::kDiverged,
                                 TrialState::kFailed};
  for (const TrialState state : kShown) {
    if (const std::size_t count = Count(sweep, state)) {
      line += fmt::format(", {} {}", count, Name(state));
    }
  }
  return seconds_left ? fmt::format("{}; {} left", line, ShortTime(*seconds_left)) : line;
}

std::optional<double> SecondsLeft(const SweepResults& sweep, double expected_epochs,
                                  double seconds) {
  double epochs = 0;
  for (const TrialResult& result : sweep.results) epochs += result.epoch;
  if (epochs <= 0 || seconds <= 0) return std::nullopt;
  return std::max(0.0, expected_epochs - epochs) * seconds / epochs;
}

std::string TrainCommand(const Trial& trial, DeviceKind kind) {
  TrainingSpec spec = trial.spec;
  if (kind == DeviceKind::kCpu) spec.devices = "cpu:1";
  spec.algorithm =
      ChooseAlgorithmInQueue(spec.algorithm, DefaultScheduler(), Sharing::kExclusive).name;
  std::string command = "hogbatch train";
  for (const std::string& file : SplitLines(spec.data)) command += " " + ShellText(file);
  for (const auto& [name, text] : ChangedOptions(spec)) {
    command += text == "true" ? fmt::format(" --{}", name)
                              : fmt::format(" --{} {}", name, ShellText(text));
  }
  return command;
}

std::string EnsembleLine(const SweepResults& sweep, const EnsembleQuality& quality,
                         std::size_t members) {
  const auto text = [&](const EvaluationSums& sums) {
    const Metric metric = MetricsOf(sums, quality.scale).front();
    return fmt::format("loss {:.4g}, {} {:.4g}", sums.mean_loss(), metric.name, metric.value);
  };
  const TrialPoint& best = *sweep.results[Ranking(sweep.results).front()].best();
  return fmt::format("{} members: validation {}; the best member alone {:.4g}, {:.4g}{}", members,
                     text(quality.valid), best.valid_loss, best.valid_metric,
                     quality.test ? fmt::format("; test {}", text(*quality.test)) : "");
}

std::string EnsembleJson(const SweepResults& sweep, const EnsembleQuality& quality,
                         const std::string& folder) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  const auto add = [&](const std::string& rows, const EvaluationSums& sums) {
    json[rows + "_loss"] = sums.mean_loss();
    for (const Metric& metric : MetricsOf(sums, quality.scale)) {
      json[fmt::format("{}_{}", rows, metric.name)] = metric.value;
    }
  };
  add("valid", quality.valid);
  if (quality.test) add("test", *quality.test);
  for (const TrialResult& result : sweep.results) {
    if (const TrialPoint* best = result.best()) {
      json["members"].push_back(
          {{"valid_loss", best->valid_loss}, {"valid_" + sweep.metric, best->valid_metric}});
    }
  }
  json["model"] = ModelPath(folder);
  return JsonText(json, 2) + "\n";
}

report::SweepView MakeSweepView(const SweepResults& sweep, const SweepPlan& plan, Search search) {
  const TrainingData& data = plan.inputs.front().input->training;
  report::SweepView view{.data = data.data.source,
                         .search = std::string(Name(search)),
                         .metric = sweep.metric,
                         .status = SweepProgressLine(sweep, {})};
  for (const auto& [name, value] : sweep.trials.front().values) view.options.push_back(name);
  for (const std::size_t i : Ranking(sweep.results)) {
    const TrialResult& result = sweep.results[i];
    report::SweptTrial trial{.name = fmt::format("trial {}", i + 1),
                             .state = std::string(Name(result.state)),
                             .epoch = result.epoch,
                             .seconds = result.seconds};
    for (const auto& [name, value] : sweep.trials[i].values) trial.values.push_back(value);
    for (const TrialPoint& point : result.curve) {
      trial.epochs.push_back(point.epoch);
      trial.losses.push_back(point.valid_loss);
    }
    if (const TrialPoint* const best = result.best()) {
      trial.loss = best->valid_loss;
      trial.metric = best->valid_metric;
    }
    view.trials.push_back(std::move(trial));
  }
  const DeviceKind kind = plan.devices.chosen.front().info.kind;
  if (plan.inputs.size() > 1) {
    const FoldMeans means = MeansOfFolds(sweep).front();
    view.command = TrainCommand(SettingOf(sweep, means), kind);
    if (means.folds > 0) view.status += "; best " + FoldLine(means, sweep.metric);
  } else {
    view.command = TrainCommand(sweep.trials[Ranking(sweep.results).front()], kind);
  }
  return view;
}

}  // namespace hogbatch
