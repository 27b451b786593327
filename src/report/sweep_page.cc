#include "report/sweep_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/text.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/ticks.h"

namespace hogbatch::report {
namespace {

constexpr std::size_t kNamedCurves = 5;
constexpr std::size_t kMostCurves = 200;
constexpr std::size_t kListedTrials = 500;
constexpr std::size_t kMostNames = 12;  // values of an option that are named on an axis

std::string Measured(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "–";
}

// What says that not all trials are shown; empty: they are.
std::string Only(const SweepView& sweep, std::size_t most) {
  if (sweep.trials.size() <= most) return "";
  return Paragraph(fmt::format("The best {} of {} trials; trials.csv has all of them.", most,
                               Grouped(std::ssize(sweep.trials))));
}

// Losses of trials that failed to learn would squeeze all others into a line.
std::optional<double> UpperBound(std::vector<double> losses) {
  std::erase_if(losses, [](double loss) { return !std::isfinite(loss); });
  if (losses.size() < 4) return std::nullopt;
  std::ranges::sort(losses);
  const double low = losses.front(), usual = losses[losses.size() * 9 / 10];
  return usual > low ? std::optional(usual + 0.1 * (usual - low)) : std::nullopt;
}

std::string OptionsText(const SweepView& sweep, const SweptTrial& trial) {
  std::string text;
  for (std::size_t i = 0; i < sweep.options.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", sweep.options[i], trial.values[i]);
  }
  return text.empty() ? trial.name : text;
}

std::string Curves(const SweepView& sweep) {
  const std::size_t shown = std::min(sweep.trials.size(), kMostCurves);
  LineChart chart{.title = shown < sweep.trials.size()
                               ? fmt::format("Validation loss of the best {} trials", shown)
                               : "Validation loss of all trials",
                  .x_label = "epoch",
                  .y_label = "validation loss",
                  .series = {}};
  std::vector<double> all;
  // The best ones last, so that they lie above the others.
  for (std::size_t rank = shown; rank-- > 0;) {
    const SweptTrial& trial = sweep.trials[rank];
    const bool is_named = rank < kNamedCurves;
    Series series{.name = is_named ? trial.name : "",
                  .x = {},
                  .y = {},
                  .colour = is_named ? static_cast<int>(rank) : 5,
                  .stroke = is_named ? Stroke::kSolid : Stroke::kFaint,
                  .hover = trial.name};
    for (std::size_t i = 0; i < trial.epochs.size(); ++i) {
      if (trial.epochs[i] <= 0) continue;  // the initial model says nothing of the options
      series.x.push_back(trial.epochs[i]);
      series.y.push_back(trial.losses[i]);
      all.push_back(trial.losses[i]);
    }
    chart.series.push_back(std::move(series));
  }
  chart.y_to = UpperBound(all);
  std::erase_if(all, [](double loss) { return !std::isfinite(loss); });
  if (chart.y_to) {
    const double low = *std::ranges::min_element(all);
    chart.y_from = std::max(0.0, low - 0.05 * (*chart.y_to - low));
  }
  return Svg(chart);
}

// The values of an option as numbers; none if one is a word, or there are too few to be an axis.
std::optional<std::vector<double>> NumbersOf(const SweepView& sweep, std::size_t option) {
  std::vector<double> numbers;
  for (const SweptTrial& trial : sweep.trials) {
    double number = 0;
    if (!ReadAll(trial.values[option], number)) return std::nullopt;
    numbers.push_back(number);
  }
  std::vector<double> different = numbers;
  std::ranges::sort(different);
  different.erase(std::ranges::unique(different).begin(), different.end());
  if (different.size() < 4) return std::nullopt;
  return numbers;
}

Axis AxisFor(const std::vector<double>& numbers) {
  const auto [low, high] = std::ranges::minmax(numbers);
  return low > 0 && high / low > 30 ? Axis::kLog : Axis::kLinear;
}

// One point per trial: the value of the option and the best validation loss.
std::string Effect(const SweepView& sweep, std::size_t option) {
  const std::string& name = sweep.options[option];
  LineChart chart{.title = fmt::format("Effect of {}", name),
                  .x_label = name,
                  .y_label = "best validation loss",
                  .series = {},
                  .line = Line::kPoints};
  Series trials{.name = "", .x = {}, .y = {}, .colour = 0, .hover = "trial"};
  const std::optional<std::vector<double>> numbers = NumbersOf(sweep, option);
  if (numbers) chart.x_axis = AxisFor(*numbers);
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    const SweptTrial& trial = sweep.trials[i];
    const auto [place, is_new] = places.emplace(trial.values[option], chart.x_names.size());
    if (!numbers && is_new) chart.x_names.push_back(trial.values[option]);
    trials.x.push_back(numbers ? (*numbers)[i] : static_cast<double>(place->second));
    trials.y.push_back(trial.loss);
  }
  if (chart.x_names.size() > kMostNames) return "";
  chart.y_to = UpperBound(trials.y);
  Series best{.name = "best trial",
              .x = {trials.x.front()},
              .y = {trials.y.front()},
              .colour = 1,
              .hover = "best trial"};
  chart.series = {std::move(trials), std::move(best)};
  return Svg(chart);
}

std::string TrialsTable(const SweepView& sweep) {
  Table table{.header = {"trial", "state"}, .rows = {}, .text_columns = 2};
  for (const std::string& name : sweep.options) table.header.push_back(name);
  for (const std::string& name :
       {std::string("loss"), sweep.metric, std::string("epochs"), std::string("time")}) {
    table.header.push_back(name);
  }
  for (const SweptTrial& trial : sweep.trials) {
    if (table.rows.size() == kListedTrials) break;
    std::vector<std::string> row = {trial.name, trial.state};
    row.insert(row.end(), trial.values.begin(), trial.values.end());
    row.insert(row.end(), {Measured(trial.loss), Measured(trial.metric),
                           fmt::format("{:.4g}", trial.epoch), ShortTime(trial.seconds)});
    table.rows.push_back(std::move(row));
  }
  return fmt::format("<div class=\"wide\">{}</div>", Html(table));
}

}  // namespace

std::string SweepPage(const SweepView& sweep) {
  Page page(fmt::format("Sweep of {} trials", sweep.trials.size()),
            fmt::format("{} · {} · {}", sweep.data, sweep.search, sweep.status));
  const SweptTrial& best = sweep.trials.front();
  double seconds = 0, epochs = 0;
  for (const SweptTrial& trial : sweep.trials) {
    seconds += trial.seconds;
    epochs += trial.epoch;
  }
  page.AddSection(
      "Best trial",
      Html(std::vector<Tile>{{"validation loss", Measured(best.loss), best.name},
                             {fmt::format("validation {}", sweep.metric), Measured(best.metric),
                              OptionsText(sweep, best)},
                             {"training time", ShortTime(seconds), "of all trials together"},
                             {"epochs", ShortNumber(epochs), "of all trials together"}}) +
          Paragraph("This command trains it again alone:") + Verbatim(sweep.command));
  page.AddSection("Learning curves", Only(sweep, kMostCurves) + Grid({Curves(sweep)}));
  std::vector<std::string> effects;
  for (std::size_t i = 0; i < sweep.options.size(); ++i) {
    if (std::string svg = Effect(sweep, i); !svg.empty()) effects.push_back(std::move(svg));
  }
  if (!effects.empty()) {
    page.AddSection("Effect of each option",
                    Paragraph("Each point is a trial. Losses far above the usual are cut off.") +
                        Grid(effects));
  }
  page.AddSection("All trials", Only(sweep, kListedTrials) + TrialsTable(sweep));
  return page.Text();
}

std::string SweepPicture(const SweepView& sweep) { return SvgFile(Curves(sweep)); }

}  // namespace hogbatch::report
