#include "report/run_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "report/chart.h"
#include "report/svg.h"
#include "report/ticks.h"

namespace hogbatch::report {
namespace {

constexpr std::array kSplits = {std::pair{"train_", "training"}, std::pair{"valid_", "validation"},
                                std::pair{"test_", "test"}};

// What a curve has on its x axis.
using Abscissa = double MetricsRow::*;

bool Measures(const RunRecord& run, const std::string& key) {
  return std::ranges::any_of(run.metrics,
                             [&](const MetricsRow& row) { return row.measured.contains(key); });
}

Series Curve(const RunRecord& run, Abscissa x, const std::string& key, std::string name) {
  Series series{.name = std::move(name), .x = {}, .y = {}};
  for (const MetricsRow& row : run.metrics) {
    const auto found = row.measured.find(key);
    if (found == row.measured.end()) continue;
    series.x.push_back(row.*x);
    series.y.push_back(found->second);
  }
  return series;
}

Series RunningLoss(const RunRecord& run, Abscissa x) {
  Series series{.name = "running", .x = {}, .y = {}, .colour = 5, .stroke = Stroke::kDashed};
  for (const MetricsRow& row : run.metrics) {
    if (!std::isfinite(row.running_loss)) continue;
    series.x.push_back(row.*x);
    series.y.push_back(row.running_loss);
  }
  return series;
}

// One run: a colour for each split. Its running loss shows what happens between evaluations.
std::vector<Series> CurvesOfOne(const RunRecord& run, Abscissa x, const std::string& what) {
  std::vector<Series> curves;
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    const std::string key = kSplits[i].first + what;
    if (!Measures(run, key)) continue;
    curves.push_back(Curve(run, x, key, kSplits[i].second));
    curves.back().colour = static_cast<int>(i);
  }
  if (what == "loss") {
    if (Series running = RunningLoss(run, x); running.x.size() > 1) {
      curves.push_back(std::move(running));
    }
  }
  return curves;
}

// Several runs: a colour for each, solid on the rows that say most about new data.
std::vector<Series> CurvesOfMany(std::span<const RunRecord> runs, Abscissa x,
                                 const std::string& what) {
  std::vector<Series> curves;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    bool first = true;
    for (const char* split : {"valid_", "test_", "train_"}) {
      const std::string key = split + what;
      if (!Measures(runs[i], key) || (!first && std::string_view(split) == "test_")) continue;
      if (!first && runs.size() > kColours) break;  // dashes tell colours apart then
      curves.push_back(Curve(runs[i], x, key, first ? runs[i].name : ""));
      curves.back().colour = static_cast<int>(i);
      curves.back().stroke = first ? Stroke::kSolid : Stroke::kDashed;
      curves.back().hover = fmt::format("{}, training", runs[i].name);
      first = false;
    }
  }
  return curves;
}

// A loss that falls through several decades is seen on a logarithmic axis alone.
Axis FittingAxis(const std::vector<Series>& curves, double ratio) {
  Bounds bounds;
  for (const Series& curve : curves) {
    for (const double y : curve.y) bounds.Include(y);
  }
  return !bounds.empty() && bounds.low > 0 && bounds.high > ratio * bounds.low ? Axis::kLog
                                                                               : Axis::kLinear;
}

// The value before training is often far from all others, which would then look alike. If so, the
// axis ends near the others and the line comes in from outside. Returns that value; NaN: all fit.
double FitToLearning(LineChart& chart) {
  Bounds first, later;
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      (i == 0 && series.x[i] == 0 ? first : later).Include(series.y[i]);
    }
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (later.empty() || first.empty() || later.low == later.high) return none;
  const double range = later.high - later.low;
  if (first.high > later.high + range) {
    chart.y_to = later.high + 0.25 * range;
    chart.y_from = later.low - 0.05 * range;
    return first.high;
  }
  if (first.low < later.low - range) {
    chart.y_from = later.low - 0.25 * range;
    chart.y_to = later.high + 0.05 * range;
    return first.low;
  }
  return none;
}

std::string LearningChart(std::span<const RunRecord> runs, const std::string& what, Abscissa x) {
  const bool over_time = x == &MetricsRow::train_seconds;
  const std::string title = MetricTitle(what);
  std::string label = title;
  if (runs.size() > 1)
    label += runs.size() > kColours ? ", validation" : ", validation (dashed: training)";
  LineChart chart{
      .title = fmt::format("{}{} against {}", static_cast<char>(std::toupper(title.front())),
                           title.substr(1), over_time ? "time" : "epochs"),
      .x_label = over_time ? "training time" : "epochs",
      .y_label = label,
      .x_axis = over_time ? Axis::kTime : Axis::kLinear,
      .series =
          runs.size() == 1 ? CurvesOfOne(runs.front(), x, what) : CurvesOfMany(runs, x, what)};
  const double start = FitToLearning(chart);
  if (std::isfinite(start)) {
    chart.y_label += runs.size() == 1 ? fmt::format(" (before training {})", ShortNumber(start))
                                      : std::string("; the start lies outside");
  } else {
    chart.y_axis = FittingAxis(chart.series, what == "loss" ? 20 : 1e4);
  }
  return Svg(chart);
}

Series Throughput(const RunRecord& run) {
  Series series{.name = run.name, .x = {}, .y = {}};
  double before = 0, examples = 0;
  const auto add = [&](double seconds, double total) {
    if (!(seconds > before) || !std::isfinite(total)) return;
    series.x.push_back(seconds);
    series.y.push_back((total - examples) / (seconds - before));
    before = seconds;
    examples = total;
  };
  for (const MetricsRow* row : Reports(run)) add(row->seconds, row->examples);
  if (series.x.empty()) add(run.totals.seconds, run.totals.examples);
  return series;
}

// "cpu.0 to cpu.3" for workers that always had the same batch size.
std::string NameOfAlike(const std::vector<std::string>& workers) {
  if (workers.size() == 1) return workers.front();
  return fmt::format("{}{}{}", workers.front(), workers.size() == 2 ? ", " : " to ",
                     workers.back());
}

// Batch sizes of a worker over time; NaN where it has none.
using Sizes = std::vector<double>;

struct SizesBefore {
  bool operator()(const Sizes& a, const Sizes& b) const {
    return std::ranges::lexicographical_compare(
        a, b, [](double x, double y) { return std::isnan(x) ? !std::isnan(y) : x < y; });
  }
};

std::map<std::string, Sizes, NaturalOrder> SizesByWorker(const RunRecord& run) {
  std::map<std::string, Sizes, NaturalOrder> sizes;
  for (std::size_t i = 0; i < run.metrics.size(); ++i) {
    for (const auto& [worker, rows] : run.metrics[i].batch_size) {
      Sizes& own = sizes[worker];
      own.resize(run.metrics.size(), std::numeric_limits<double>::quiet_NaN());
      own[i] = rows;
    }
  }
  return sizes;
}

std::vector<Series> BatchSizes(const RunRecord& run) {
  std::vector<double> seconds;
  for (const MetricsRow& row : run.metrics) seconds.push_back(row.seconds);
  std::vector<Series> made;
  std::vector<std::vector<std::string>> alike;
  std::map<Sizes, std::size_t, SizesBefore> places;  // in both
  for (const auto& [worker, sizes] : SizesByWorker(run)) {
    const auto [place, is_new] = places.try_emplace(sizes, made.size());
    if (is_new) {
      made.push_back({.name = worker, .x = seconds, .y = sizes});
      alike.emplace_back();
    }
    alike[place->second].push_back(worker);
  }
  for (std::size_t i = 0; i < made.size(); ++i) made[i].name = NameOfAlike(alike[i]);
  return made;
}

}  // namespace

std::string MainMetric(std::span<const RunRecord> runs) {
  std::set<std::string> found;
  for (const RunRecord& run : runs) {
    for (const MetricsRow& row : run.metrics) {
      for (const auto& [key, value] : row.measured) found.insert(key.substr(key.find('_') + 1));
    }
    for (const auto& [key, value] : run.totals.measured)
      found.insert(key.substr(key.find('_') + 1));
  }
  for (const char* known : {"accuracy", "precision_at_1", "rmse"}) {
    if (found.contains(known)) return known;
  }
  found.erase("loss");
  return found.empty() ? "" : *found.begin();
}

std::string MetricTitle(const std::string& metric) {
  if (metric == "rmse") return "RMSE";
  if (metric.starts_with("precision_at_")) return "precision@" + metric.substr(13);
  return metric;
}

std::vector<std::string> LearningCharts(std::span<const RunRecord> runs) {
  std::vector<std::string> charts;
  for (const std::string& what : {std::string("loss"), MainMetric(runs)}) {
    if (what.empty()) continue;
    charts.push_back(LearningChart(runs, what, &MetricsRow::train_seconds));
    charts.push_back(LearningChart(runs, what, &MetricsRow::epoch));
  }
  return charts;
}

std::vector<std::string> SpeedCharts(std::span<const RunRecord> runs) {
  LineChart speed{.title = "Rows per second",
                  .x_label = "time since training began",
                  .y_label = "rows/s",
                  .x_axis = Axis::kTime,
                  .series = {},
                  .y_from = 0};
  LineChart batches{.title = "Batch size of each device",
                    .x_label = "time since training began",
                    .y_label = "rows per update",
                    .x_axis = Axis::kTime,
                    .series = {},
                    .line = Line::kStep};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    speed.series.push_back(Throughput(runs[i]));
    if (runs.size() == 1) speed.series.back().name.clear();
    int within = 0;
    for (Series& series : BatchSizes(runs[i])) {
      if (runs.size() > 1) {
        series.name = fmt::format("{}: {}", runs[i].name, series.name);
        series.colour = static_cast<int>(i);
        series.stroke = within++ % 2 == 0 ? Stroke::kSolid : Stroke::kDashed;
      }
      batches.series.push_back(std::move(series));
    }
  }
  batches.y_axis = FittingAxis(batches.series, 8);
  if (batches.y_axis == Axis::kLinear) batches.y_from = 0;
  return {Svg(speed), Svg(batches)};
}

}  // namespace hogbatch::report
