#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "core/text.h"
#include "report/chart.h"
#include "report/run_charts.h"

namespace hogbatch::report {
namespace {

constexpr std::size_t kMostWorkers = 12;  // bars that are told apart; beyond, teams are shown

// Of their sum.
Numbers Percent(Numbers parts) {
  double all = 0;
  for (const auto& [name, part] : parts) all += part;
  for (auto& [name, part] : parts) part = all > 0 ? 100 * part / all : 0;
  return parts;
}

// Bars for the values of all runs by the names that any of them has.
BarChart BarsByName(std::span<const RunRecord> runs, std::vector<std::string> names,
                    const std::function<Numbers(const RunRecord&)>& values) {
  BarChart chart;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Numbers of_run = values(runs[i]);
    BarSeries series{
        .name = runs.size() == 1 ? "" : runs[i].name, .values = {}, .colour = static_cast<int>(i)};
    for (const std::string& name : names) series.values.push_back(ValueOf(of_run, name));
    chart.series.push_back(std::move(series));
  }
  chart.categories = std::move(names);
  return chart;
}

// By worker, or by team if there are many workers.
std::string SharesChart(std::span<const RunRecord> runs) {
  const bool by_team = std::ranges::any_of(runs, [](const RunRecord& run) {
    return run.totals.updates_by_worker.size() > kMostWorkers && !run.totals.share_by_team.empty();
  });
  const auto shares = [&](const RunRecord& run) {
    return Percent(by_team ? run.totals.share_by_team : run.totals.updates_by_worker);
  };
  std::set<std::string, NaturalOrder> names;
  for (const RunRecord& run : runs) {
    for (const auto& [name, share] : shares(run)) names.insert(name);
  }
  if (names.empty()) return "";
  BarChart chart = BarsByName(runs, {names.begin(), names.end()}, shares);
  chart.title = by_team ? "Shares of updates by team" : "Shares of updates by worker";
  chart.value_label = "% of all updates";
  chart.bars = Bars::kFlat;
  return Svg(chart);
}

// "2–3" for the bucket that begins at 2.
std::string BucketName(std::int64_t from) {
  return from < 2 ? fmt::format("{}", from) : fmt::format("{}–{}", from, 2 * from - 1);
}

std::string StalenessChart(std::span<const RunRecord> runs) {
  std::map<std::int64_t, std::string> buckets;
  for (const RunRecord& run : runs) {
    for (const auto& [key, merges] : run.totals.merges_by_staleness) {
      std::int64_t from = 0;
      if (ReadAll(key, from) && from >= 0 && from < (std::int64_t{1} << 40)) buckets[from] = key;
    }
  }
  if (buckets.empty()) return "";
  std::vector<std::string> keys, labels;
  for (const auto& [from, key] : buckets) {
    keys.push_back(key);
    labels.push_back(BucketName(from));
  }
  BarChart chart = BarsByName(
      runs, keys, [](const RunRecord& run) { return Percent(run.totals.merges_by_staleness); });
  chart.categories = std::move(labels);
  chart.title = "Staleness";
  chart.category_label = "merges of other workers since the weights were read";
  chart.value_label = "% of merges";
  return Svg(chart);
}

}  // namespace

std::vector<std::string> TeamworkCharts(std::span<const RunRecord> runs) {
  std::vector<std::string> charts;
  for (std::string& chart : std::vector{SharesChart(runs), StalenessChart(runs)}) {
    if (!chart.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

std::string UtilizationTimeline(const RunRecord& run, int colour) {
  std::map<std::string, Lane, NaturalOrder> lanes;
  std::map<std::string, std::pair<double, double>> before;  // time, busy seconds until then
  const auto add = [&](double seconds, const Numbers& busy) {
    for (const auto& [worker, fraction] : busy) {
      auto& [time, busy_seconds] = before[worker];
      if (!(seconds > time)) continue;
      const double now = fraction * seconds;
      Lane& lane = lanes[worker];
      lane.name = worker;
      const double share = std::clamp((now - busy_seconds) / (seconds - time), 0.0, 1.0);
      lane.spans.push_back({.begin = time, .end = seconds, .share = share});
      before[worker] = {seconds, now};
    }
  };
  for (const MetricsRow* row : Reports(run)) add(row->seconds, row->busy);
  if (std::isfinite(run.totals.seconds)) add(run.totals.seconds, run.totals.busy);
  if (lanes.empty()) return "";
  Timeline timeline{.title = run.name, .lanes = {}, .colour = colour};
  for (auto& [worker, lane] : lanes) timeline.lanes.push_back(std::move(lane));
  return Svg(timeline);
}

}  // namespace hogbatch::report
