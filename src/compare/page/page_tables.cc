#include "compare/page/page_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compare/page/wording.h"
#include "core/text.h"
#include "report/html.h"

namespace hogbatch::compare {
namespace {

using report::Paragraph;
using report::Table;

std::string CostText(const std::optional<CostFinding>& cost, std::string (*text)(double)) {
  return cost ? SpreadText(cost->spread, text) : "–";
}

std::optional<Ratio> AdvantageIn(const std::optional<CostFinding>& cost) {
  return cost ? cost->advantage : std::nullopt;
}

using CostMember = std::optional<CostFinding> RaceFinding::*;

Table CostTable(const std::vector<RaceFinding>& races, const char* what, CostMember cost,
                std::string (*text)(double)) {
  Table table{.header = {"side", what, "side / hogbatch", "verdict"}, .rows = {}};
  for (const RaceFinding& race : races) {
    const bool own = race.side == kReference;
    const std::optional<Ratio> advantage = AdvantageIn(race.*cost);
    table.rows.push_back({race.side, CostText(race.*cost, text),
                          own ? std::string() : RatioText(advantage),
                          own ? std::string() : VerdictText(advantage)});
  }
  return table;
}

Table SpeedTable(const Comparison& comparison, Fairness fairness) {
  Table table{.header = {"side", "rows per update", "rows/s", "hogbatch / side", "verdict"},
              .rows = {}};
  for (const SpeedFinding& speed : comparison.findings.speeds) {
    if (speed.fairness != fairness) continue;
    const bool own = speed.side == kReference;
    const std::string mark = speed.fastest_variant ? "" : " (not its fastest form)";
    table.rows.push_back({speed.variant + mark, Grouped(speed.side_batch),
                          SpreadText(speed.rate, RateText), own ? "" : RatioText(speed.advantage),
                          own ? "" : VerdictText(speed.advantage)});
  }
  return table;
}

std::string DifferenceText(const std::optional<Difference>& difference) {
  if (!difference) return "";
  if (difference->verdict == Verdict::kUnknown) return fmt::format("{:+.4f}", difference->mean);
  return fmt::format("{:+.4f} ({:+.4f} to {:+.4f}){}", difference->mean, difference->low,
                     difference->high, difference->verdict == Verdict::kNoise ? ", noise" : "");
}

std::string LevelTable(const Comparison& comparison) {
  const Findings& findings = comparison.findings;
  if (findings.levels.size() < 2) return "";
  Table table{.header = {"side"}, .rows = {}};
  for (const double level : findings.levels) table.header.push_back(fmt::format("{:.4f}", level));
  for (const CurveFinding& curve : findings.curves) {
    std::vector<std::string> row = {curve.side};
    for (const auto& seconds : curve.level_seconds) {
      row.push_back(seconds ? SecondsText(*seconds)
                            : fmt::format("not in {}", SecondsText(curve.trained_seconds)));
    }
    table.rows.push_back(std::move(row));
  }
  return Paragraph(
             "Median training time to this and to lower losses, from the runs of the "
             "picture:") +
         Html(table);
}

}  // namespace

std::string TimeToTarget(const Comparison& comparison) {
  const Findings& findings = comparison.findings;
  Table table{.header = {"side", "batch size and rate", "seconds of training", "side / hogbatch",
                         "verdict"},
              .rows = {},
              .text_columns = 2};
  for (const RaceFinding& race : findings.races) {
    const bool own = race.side == kReference;
    table.rows.push_back({race.side, SettingText(race.setting), RaceSeconds(race),
                          own ? "" : RaceAdvantage(race, findings),
                          own ? "" : RaceVerdict(race, findings)});
  }
  return Html(table) + Paragraph(findings.target->how) + LevelTable(comparison);
}

std::string Costs(const Comparison& comparison) {
  const std::vector<RaceFinding>& races = comparison.findings.races;
  return Paragraph("Of the whole command that trains to the target.") +
         report::Subheading("Peak memory") +
         Html(CostTable(races, "resident memory", &RaceFinding::memory, BytesText)) +
         report::Subheading("Processor time") +
         Html(CostTable(races, "of all processes", &RaceFinding::cpu, SecondsText)) +
         Paragraph(
             "Start-up, compilation and evaluation included; of runs that reached the "
             "target.") +
         report::Subheading("From the command to the end of the first epoch") +
         Html(CostTable(races, "seconds", &RaceFinding::start, SecondsText)) +
         Paragraph(
             "hogbatch reads and encodes the text file in this time. The others read the matrix "
             "that hogbatch exported, and the export is not in their time.");
}

std::string Throughput(const Comparison& comparison) {
  return Paragraph(fmt::format(
             "Rows per second while training, without start-up, compilation and evaluation; "
             "medians of repeats in which all sides take turns. With equal rows per update, an "
             "update of each side is the gradient of as many rows. A synchronous framework works "
             "on one update with all cores, and hogbatch on one update per core. With equal rows "
             "in flight, a synchronous framework therefore gets {} times the rows.",
             comparison.setting.threads)) +
         report::Subheading("Equal rows per update") +
         Html(SpeedTable(comparison, Fairness::kRowsPerUpdate)) +
         report::Subheading("Equal rows in flight") +
         Html(SpeedTable(comparison, Fairness::kRowsInFlight));
}

std::string Quality(const Comparison& comparison) {
  const std::string metric = MetricName(comparison.log);
  Table table{.header = {"side", "seconds of training", "lowest loss"}, .rows = {}};
  if (!metric.empty()) table.header.insert(table.header.end(), {metric, "difference"});
  for (const CurveFinding& curve : comparison.findings.curves) {
    std::vector<std::string> row = {curve.side, SecondsText(curve.trained_seconds),
                                    curve.loss ? SpreadText(*curve.loss, MetricText) : "–"};
    if (!metric.empty()) {
      row.push_back(curve.metric ? SpreadText(*curve.metric, MetricText) : "–");
      row.push_back(DifferenceText(curve.metric_difference));
    }
    table.rows.push_back(std::move(row));
  }
  return Html(table) + Paragraph(
                           "The metric is that of the model with the lowest validation loss. "
                           "Differences are side minus hogbatch, with 95 % intervals.");
}

std::string Tuning(const Comparison& comparison) {
  Table table{.header = {"side", "best setting", "settings tried", "training time spent",
                         "lowest loss", "best lies"},
              .rows = {},
              .text_columns = 2};
  for (const RaceFinding& race : comparison.findings.races) {
    const BestSetting& best = race.setting;
    table.rows.push_back({race.side, SettingText(best), Grouped(best.tried),
                          SecondsText(best.tuning_seconds), MetricText(best.loss),
                          best.at_edge ? "at the edge of what was tried" : "inside"});
  }
  std::vector<std::int64_t> batches = comparison.plan.batches;
  std::ranges::sort(batches);
  return Paragraph(fmt::format(
             "One seed. The grid is batch sizes {} by learning rates {:g}; where time is short, "
             "every other of its cells. Every side tries the same cells for the same training "
             "time. Then neighbours outside the grid, where the best cell is at its edge; then "
             "the best three for longer. The setting that reaches the target first is taken.",
             Join(batches), fmt::join(comparison.plan.lrs, ", "))) +
         Html(table);
}

std::string Commands(const Comparison& comparison) {
  std::string races;
  for (const RunRecord* run : comparison.log.Of(Phase::kRace)) {
    if (run->plan.repeat != 1) continue;
    races += report::Subheading(run->plan.side) + report::Verbatim(run->command);
  }
  return report::Verbatim(comparison.command) +
         report::Folded("The first race of each side",
                        races + Paragraph("run.json, metrics.jsonl and summary.json are in the "
                                          "folder of each run; compare.json has the commands of "
                                          "all runs."));
}

}  // namespace hogbatch::compare
