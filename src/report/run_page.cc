#include "report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/text.h"
#include "report/html.h"
#include "report/run_charts.h"
#include "report/ticks.h"

namespace hogbatch::report {
namespace {

std::string FactAt(const Facts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &std::pair<std::string, std::string>::first);
  return found == facts.end() ? "" : found->second;
}

std::string DataName(const RunRecord& run) {
  const std::string source = FactAt(run.data, "source");
  return source.empty() ? FactAt(run.options, "data") : source;
}

// What two runs must share for their losses to mean the same; empty: not known.
std::string DataText(const RunRecord& run) {
  std::string text = DataName(run);
  for (const char* fact : {"rows", "features", "outputs"}) {
    const std::string value = FactAt(run.data, fact);
    if (!value.empty()) text += fmt::format(", {} {}", value, fact);
  }
  return text;
}

std::string StatusText(const RunRecord& run) {
  const std::string& reason = run.totals.stopped_because;
  if (reason.empty()) return "no end recorded";
  if (reason == "epochs") return "all epochs are done";
  if (reason == "max_time") return "the time was up";
  if (reason == "target_loss") return "the target loss was reached";
  if (reason == "patience") return "the model no longer improved";
  if (reason == "interrupted") return "it was interrupted";
  if (reason == "diverged") return "training diverged";
  if (reason == "no_workers") return "no worker was left";
  return reason;
}

// A loss or a metric, with zeros at its end, so that figures below each other have equal digits.
std::string MeasuredText(double value) {
  const double size = std::abs(value);
  return size >= 1e-3 && size < 1e4 ? fmt::format("{:#.4g}", value) : ShortNumber(value);
}

std::string SecondsText(double seconds) {
  return std::isfinite(seconds) ? ShortTime(seconds) : "–";
}

// The best split there is for a figure at the top: "valid_loss", say. Empty: none.
std::string BestKey(const RunRecord& run, const std::string& what) {
  for (const char* split : {"valid_", "test_", "train_"}) {
    if (run.totals.measured.contains(split + what)) return split + what;
  }
  return "";
}

std::string SplitName(const std::string& key) {
  if (key.starts_with("valid_")) return "validation";
  return key.starts_with("test_") ? "test" : "training";
}

// Losses and metrics of the saved model by split.
std::string MeasuredTable(const RunRecord& run) {
  std::vector<std::string> metrics;
  for (const auto& [key, value] : run.totals.measured) {
    const std::string metric = key.substr(key.find('_') + 1);
    if (std::ranges::find(metrics, metric) == metrics.end()) metrics.push_back(metric);
  }
  if (metrics.empty()) return "";
  std::ranges::stable_partition(metrics, [](const std::string& name) { return name == "loss"; });
  Table table{.header = {std::isfinite(run.totals.best_epoch) ? "saved model" : "latest"},
              .rows = {}};
  for (const std::string& metric : metrics) table.header.push_back(MetricTitle(metric));
  for (const std::string split : {"train_", "valid_", "test_"}) {
    std::vector<std::string> row = {SplitName(split)};
    for (const std::string& metric : metrics) {
      row.push_back(MeasuredText(ValueOf(run.totals.measured, split + metric)));
    }
    if (std::ranges::any_of(metrics, [&](const std::string& metric) {
          return run.totals.measured.contains(split + metric);
        })) {
      table.rows.push_back(std::move(row));
    }
  }
  return Html(table);
}

std::string SummaryOfOne(const RunRecord& run) {
  std::vector<Tile> tiles;
  const std::string epoch = std::isfinite(run.totals.best_epoch)
                                ? fmt::format("epoch {:.4g}", run.totals.best_epoch)
                                : "";
  for (const std::string& what : {std::string("loss"), MainMetric({&run, 1})}) {
    const std::string key = what.empty() ? "" : BestKey(run, what);
    if (key.empty()) continue;
    tiles.push_back({fmt::format("{} {}", SplitName(key), MetricTitle(what)),
                     MeasuredText(ValueOf(run.totals.measured, key)), epoch});
  }
  const Totals& totals = run.totals;
  tiles.push_back({"training time", SecondsText(totals.train_seconds),
                   std::isfinite(totals.seconds)
                       ? fmt::format("{} with evaluation", SecondsText(totals.seconds))
                       : ""});
  tiles.push_back({"rows/s", ShortNumber(totals.examples_per_second),
                   fmt::format("{} rows", ShortNumber(totals.examples))});
  tiles.push_back({"epochs", ShortNumber(totals.epoch), StatusText(run)});
  tiles.push_back(
      {"updates", ShortNumber(totals.updates),
       std::isfinite(totals.beta) ? fmt::format("{:.1f} % survive", 100 * totals.beta) : ""});
  return Html(tiles) + MeasuredTable(run);
}

// One line a run: losses and the main metric, on the rows first that say most about new data.
std::string SummaryTable(std::span<const RunRecord> runs) {
  std::vector<std::string> keys;
  for (const char* split : {"valid_", "test_", "train_"}) {
    for (const std::string& what : {std::string("loss"), MainMetric(runs)}) {
      if (!what.empty() && std::ranges::any_of(runs, [&](const RunRecord& run) {
            return run.totals.measured.contains(split + what);
          })) {
        keys.push_back(split + what);
      }
    }
  }
  Table table{.header = {"run", "end"}, .rows = {}, .text_columns = 2};
  for (const std::string& key : keys) {
    table.header.push_back(
        fmt::format("{} {}", SplitName(key), MetricTitle(key.substr(key.find('_') + 1))));
  }
  for (const char* name : {"epochs", "training time", "rows/s"}) table.header.emplace_back(name);
  for (const RunRecord& run : runs) {
    std::vector<std::string> row = {run.name, StatusText(run)};
    for (const std::string& key : keys) {
      row.push_back(MeasuredText(ValueOf(run.totals.measured, key)));
    }
    row.push_back(ShortNumber(run.totals.epoch));
    row.push_back(SecondsText(run.totals.train_seconds));
    row.push_back(ShortNumber(run.totals.examples_per_second));
    table.rows.push_back(std::move(row));
  }
  return Html(table);
}

std::string Warnings(std::span<const RunRecord> runs, std::span<const std::string> notes) {
  std::string html;
  for (const std::string& note : notes) html += Warning(note);
  for (const std::string& difference : Differences(runs)) html += Warning(difference);
  std::vector<std::pair<std::string, std::string>> problems;  // a sentence, and who it is about
  for (const RunRecord& run : runs) {
    for (const std::string& problem : run.problems) {
      const auto same =
          std::ranges::find(problems, problem, &std::pair<std::string, std::string>::first);
      if (same == problems.end()) {
        problems.emplace_back(problem, run.name);
      } else {
        same->second += ", " + run.name;
      }
    }
  }
  for (const auto& [problem, names] : problems)
    html += Warning(fmt::format("{}: {}.", names, problem));
  for (const RunRecord& run : runs) {
    for (const auto& [worker, what] : run.totals.failures) {
      html += Warning(fmt::format("{}: worker {} failed: {}", run.name, worker, what));
    }
  }
  return html;
}

// Facts of all runs side by side: names down, runs across.
std::string FactsHtml(std::span<const RunRecord> runs, Facts RunRecord::* which) {
  if (runs.size() == 1) return Html(runs.front().*which);
  Table table{.header = {""}, .rows = {}, .text_columns = runs.size() + 1};
  std::vector<std::string> names;
  std::set<std::string> known;
  std::vector<std::map<std::string, std::string>> facts;  // of each run
  for (const RunRecord& run : runs) {
    table.header.push_back(run.name);
    facts.emplace_back((run.*which).begin(), (run.*which).end());
    for (const auto& [name, value] : run.*which) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  std::vector<std::vector<std::string>> same;
  for (const std::string& name : names) {
    std::vector<std::string> row = {name};
    for (const auto& of_run : facts) {
      const auto found = of_run.find(name);
      row.push_back(found == of_run.end() ? "" : found->second);
    }
    const bool differs =
        std::adjacent_find(row.begin() + 1, row.end(), std::not_equal_to<>()) != row.end();
    (differs ? table.rows : same).push_back(std::move(row));
  }
  // What differs is what a reader looks for.
  std::string html = table.rows.empty() ? Paragraph("The same in all runs:") : Html(table);
  Facts shared;
  for (const auto& row : same) shared.emplace_back(row[0], row[1]);
  if (shared.empty()) return html;
  return html + (table.rows.empty() ? Html(shared) : Folded("The same in all runs", Html(shared)));
}

bool AnyHas(std::span<const RunRecord> runs, Facts RunRecord::* which) {
  return std::ranges::any_of(runs, [&](const RunRecord& run) { return !(run.*which).empty(); });
}

std::string Subtitle(std::span<const RunRecord> runs) {
  if (runs.size() > 1) {
    std::string names;
    for (const RunRecord& run : runs) names += (names.empty() ? "" : ", ") + run.name;
    return names;
  }
  const RunRecord& run = runs.front();
  std::string text = DataName(run);
  for (const char* fact : {"algorithm", "started"}) {
    const std::string value = FactAt(run.options, fact);
    if (!value.empty()) text += (text.empty() ? "" : " · ") + value;
  }
  return text;
}

}  // namespace

std::vector<std::string> Differences(std::span<const RunRecord> runs) {
  std::vector<std::string> sentences;
  std::set<std::string> data, losses;
  std::string list;
  for (const RunRecord& run : runs) {
    const std::string text = DataText(run);
    if (!text.empty() && data.insert(text).second) {
      list += fmt::format("{}{} on {}", list.empty() ? "" : "; ", run.name, text);
    }
    const std::string loss = FactAt(run.network, "loss");
    if (!loss.empty()) losses.insert(loss);
  }
  if (data.size() > 1) {
    sentences.push_back(fmt::format(
        "The runs trained on different data, so their losses and metrics cannot be compared: {}.",
        list));
  } else if (losses.size() > 1) {
    sentences.push_back("The runs have different losses, so their values cannot be compared.");
  }
  return sentences;
}

std::string RunPage(std::span<const RunRecord> runs, std::span<const std::string> notes) {
  Page page(runs.size() == 1 ? fmt::format("Run {}", runs.front().name)
                             : fmt::format("{} runs", runs.size()),
            Subtitle(runs));
  page.AddSection("Summary", Warnings(runs, notes) + (runs.size() == 1 ? SummaryOfOne(runs.front())
                                                                       : SummaryTable(runs)));
  page.AddSection("Learning", Grid(LearningCharts(runs)));
  page.AddSection("Throughput", Grid(SpeedCharts(runs)));
  if (const auto charts = TeamworkCharts(runs); !charts.empty()) {
    page.AddSection("Teamwork", Grid(charts));
  }
  std::string timelines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    timelines += UtilizationTimeline(runs[i], static_cast<int>(i));
  }
  if (!timelines.empty()) {
    page.AddSection("Utilisation",
                    Paragraph("How much of the time each worker trained or evaluated; a full lane "
                              "is a worker that never waited.") +
                        timelines);
  }
  for (const auto& [heading, which] :
       {std::pair{"Data", &RunRecord::data}, std::pair{"Network", &RunRecord::network},
        std::pair{"Machine", &RunRecord::machine},
        std::pair{"Configuration", &RunRecord::options}}) {
    if (AnyHas(runs, which)) page.AddSection(heading, FactsHtml(runs, which));
  }
  return page.Text();
}

}  // namespace hogbatch::report
