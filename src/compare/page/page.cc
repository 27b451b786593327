#include "compare/page/page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "compare/page/page_tables.h"
#include "compare/page/wording.h"
#include "core/text.h"
#include "report/chart.h"
#include "report/html.h"

namespace hogbatch::compare {
namespace {

using report::Axis;
using report::Facts;
using report::LineChart;
using report::Page;
using report::Paragraph;
using report::Series;
using report::Tile;

constexpr double kAlike = 1e-3;  // losses of the same weights, in single precision

LineChart Picture(const Comparison& comparison, Axis axis, std::string title) {
  LineChart chart{
      .title = std::move(title),
      .x_label = "training time",
      .y_label = comparison.setting.problem.valid_rows > 0 ? "validation loss" : "training loss",
      .x_axis = axis,
      .series = {}};
  if (axis == Axis::kLog) chart.x_label += " in seconds, logarithmic";
  double end = 0;
  for (const CurveFinding& curve : comparison.findings.curves) {
    Series series{.name = curve.side, .x = {}, .y = {}};
    for (const CurveSample& sample : curve.samples) {
      series.x.push_back(sample.seconds);
      series.y.push_back(sample.median);
      series.low.push_back(sample.low);
      series.high.push_back(sample.high);
      end = std::max(end, sample.seconds);
    }
    chart.series.push_back(series);
  }
  if (const auto& target = comparison.findings.target) {
    chart.series.push_back({.name = fmt::format("target {:.4g}", target->loss),
                            .x = {axis == Axis::kLog ? end / 1000 : 0, end},
                            .y = {target->loss, target->loss},
                            .stroke = report::Stroke::kDashed});
  }
  return chart;
}

std::string Names(const Comparison& comparison) {
  std::string names;
  for (const Side& side : comparison.sides) {
    const bool took_part = comparison.findings.races.empty() ||
                           std::ranges::find(comparison.findings.races, side.name,
                                             &RaceFinding::side) != comparison.findings.races.end();
    if (IsOwn(side) || !took_part || names.find(side.framework) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + side.framework;
  }
  return names.empty() ? "its own methods" : names;
}

std::string Subtitle(const Comparison& comparison) {
  const MachineFacts& machine = comparison.machine;
  return fmt::format("{}, {} of {} cores{}; {:%Y-%m-%d}", machine.processor,
                     comparison.setting.threads, machine.cores,
                     machine.gpu_names.empty() ? "" : ", " + machine.gpu_names,
                     fmt::localtime(std::time(nullptr)));
}

std::vector<Tile> Tiles(const Comparison& comparison) {
  std::vector<Tile> tiles;
  const Findings& findings = comparison.findings;
  for (const RaceFinding& race : findings.races) {
    if (race.side == kReference) {
      tiles.push_back({.label = fmt::format("hogbatch to a loss of {:.4g}", findings.target->loss),
                       .value = race.seconds ? SecondsText(race.seconds->spread.median) : "–",
                       .note = SettingText(race.setting)});
      continue;
    }
    const std::string advantage = RaceAdvantage(race, findings);
    const std::string value = advantage.substr(0, advantage.find(" ("));
    tiles.push_back(
        {.label = fmt::format("time of {} / hogbatch", race.side),
         .value = value,
         .note = fmt::format("{}; {}", RaceSeconds(race), RaceVerdict(race, findings))});
  }
  return tiles;
}

std::string Warnings(const Comparison& comparison) {
  std::string html;
  if (!comparison.complete) {
    html += report::Warning(
        "This comparison was interrupted. The same command goes on with it and completes this "
        "page.");
  }
  constexpr double kBusy = 0.05;
  if (comparison.findings.others_cpu > kBusy) {
    html += report::Warning(fmt::format(
        "Other programs took {:.0f} % of the processor during the median run and up to {:.0f} %. "
        "Repeat the comparison on a quiet machine.",
        100 * comparison.findings.others_cpu, 100 * comparison.findings.most_others_cpu));
  }
  const auto& initial = comparison.findings.initial_loss;
  if (initial && initial->largest_difference > kAlike) {
    html += report::Warning(fmt::format(
        "{} computes another loss than hogbatch for the same initial weights, by {:.3g} %. The "
        "two do not learn the same problem.",
        initial->side, 100 * initial->largest_difference));
  }
  for (const Absent& absent : comparison.absent) {
    html += report::Warning(fmt::format("{} did not take part: {}", absent.name, absent.why));
  }
  for (const Failure& failure : comparison.findings.failures) {
    html += report::Warning(
        fmt::format("{} {} {} in {}; the last words are at the end of this page.", failure.side,
                    failure.variant, failure.outcome, Plural(failure.runs, "run", "runs")));
  }
  return html;
}

std::string FailureTexts(const Findings& findings) {
  std::string html;
  for (const Failure& failure : findings.failures) {
    html += report::Subheading(fmt::format("{} {}", failure.side, failure.variant)) +
            report::Verbatim(failure.message);
  }
  return html;
}

Facts MachineAndData(const Comparison& comparison) {
  const MachineFacts& machine = comparison.machine;
  const Problem& problem = comparison.setting.problem;
  Facts facts = {
      {"data", fmt::format("{}: {} training, {} validation and {} test rows, {}", problem.source,
                           Grouped(problem.train_rows), Grouped(problem.valid_rows),
                           Grouped(problem.test_rows), problem.is_sparse ? "sparse" : "dense")},
      {"network", fmt::format("{}, {} loss", problem.network, problem.loss)},
      {"optimiser", fmt::format("{}, constant learning rate", problem.optimizer)},
      {"processor", fmt::format("{}, {} cores, {}", machine.processor, machine.cores,
                                BytesText(static_cast<double>(machine.memory_bytes)))},
      {"cores used by each side", fmt::format("{}", comparison.setting.threads)},
      {"system", machine.system},
      {"other programs", fmt::format("took {:.1f} % of the processor in the median run, {:.1f} % "
                                     "at most",
                                     100 * comparison.findings.others_cpu,
                                     100 * comparison.findings.most_others_cpu)},
      {"time taken", ShortTime(comparison.log.wall_seconds())}};
  if (!machine.gpu_names.empty()) facts.emplace_back("GPUs", machine.gpu_names);
  for (const Side& side : comparison.sides) {
    if (side.name == side.framework) facts.emplace_back(side.name, side.version);
  }
  return facts;
}

std::string FileName(const std::string& source) {
  return std::filesystem::path(source).filename().string();
}

void AddResults(Page& page, const Comparison& comparison) {
  const Findings& findings = comparison.findings;
  if (!findings.curves.empty()) {
    page.AddSection(
        "Loss against training time",
        report::Grid({Svg(Picture(comparison, Axis::kTime, "Loss against training time")),
                      Svg(Picture(comparison, Axis::kLog, "The same, early times stretched"))}) +
            Paragraph("Every side at its own best batch size and learning rate, from the same "
                      "initial weights. Lines are medians over the seeds, bands reach from the "
                      "lowest to the highest. Start-up, compilation and evaluation are not in "
                      "the time."));
  }
  if (findings.target && !findings.races.empty()) {
    page.AddSection(fmt::format("Time to a loss of {:.4g}", findings.target->loss),
                    TimeToTarget(comparison));
    page.AddSection("Memory, processor time and start-up", Costs(comparison));
  }
  if (!findings.speeds.empty()) page.AddSection("Throughput", Throughput(comparison));
  if (!findings.curves.empty()) page.AddSection("Quality after equal time", Quality(comparison));
}

}  // namespace

std::string ComparePage(const Comparison& comparison) {
  const Problem& problem = comparison.setting.problem;
  Page page(fmt::format("hogbatch and {} on {}", Names(comparison), FileName(problem.source)),
            Subtitle(comparison));
  const std::string top = Warnings(comparison) + report::Html(Tiles(comparison));
  if (!top.empty()) page.AddSection("In short", top);
  AddResults(page, comparison);
  if (!comparison.findings.races.empty()) {
    page.AddSection("How each side was tuned", Tuning(comparison));
  }
  page.AddSection("What is noise", Noise(comparison));
  page.AddSection("The rules", Rules(comparison));
  page.AddSection("Machine, data and versions", report::Html(MachineAndData(comparison)));
  if (!comparison.findings.failures.empty()) {
    page.AddSection("What failed", FailureTexts(comparison.findings));
  }
  page.AddSection("Commands", Commands(comparison));
  return page.Text();
}

std::string ComparePicture(const Comparison& comparison) {
  return report::SvgFile(Svg(Picture(
      comparison, Axis::kTime,
      fmt::format("Loss against training time, {}", FileName(comparison.setting.problem.source)))));
}

}  // namespace hogbatch::compare
