#include "cli/reports/live_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "cli/reports/team_report.h"
#include "core/guard/printable.h"
#include "core/text.h"

namespace hogbatch {
namespace {

// The most important metric.
std::string MetricText(const EvaluationSums& sums, const MetricScale& scale) {
  return Text(MetricsOf(sums, scale).front());
}

}  // namespace

std::string Text(const Metric& metric) {
  std::string name = metric.name;
  if (const auto at = name.find("_at_"); at != std::string::npos) name.replace(at, 4, "@");
  // Shares have four decimals; an error has the unit of the labels, of any size.
  if (name == "rmse") return fmt::format("{} {:.5g}", name, metric.value);
  return fmt::format("{} {:.4f}", name, metric.value);
}

std::string FitFields(std::span<const std::string> fields, int width) {
  const auto room = static_cast<std::size_t>(std::max(width, 0));
  std::string line;
  for (const std::string& field : fields) {
    if (line.empty()) {
      line = FirstCharacters(field, room);
    } else if (CountCharacters(line) + 2 + CountCharacters(field) <= room) {
      line += "  " + field;
    } else {
      break;
    }
  }
  return line;
}

std::vector<std::string> LiveFields(const Progress& progress, double epochs,
                                    const std::optional<Evaluation>& last,
                                    const MetricScale& scale) {
  const std::string examples = ShortCount(progress.examples_per_second) + " rows/s";
  const std::string updates = ShortCount(progress.updates_per_second) + " updates/s";
  std::string metric;
  // The metric of the untrained model would mislead.
  if (last && last->epoch > 0 && (last->valid || last->test || last->train)) {
    const auto& sums = last->valid ? last->valid : last->test ? last->test : last->train;
    metric = MetricText(*sums, scale);
  }
  const std::string left =
      progress.seconds_left ? ShortTime(*progress.seconds_left) + " left" : std::string();

  std::vector<std::string> fields = {fmt::format("epoch {:.2f}/{:g}", progress.epoch, epochs)};
  if (progress.running_loss) fields.push_back(fmt::format("loss {:.4f}", *progress.running_loss));
  // A narrow terminal shows the first ones.
  if (!left.empty()) fields.push_back(left);
  const std::vector<std::string> teams = TeamFields(progress);
  fields.insert(fields.end(), teams.begin(), teams.end());
  // Teams leave little room, and the line of the last evaluation has the metric.
  const std::array<std::string, 3> rest =
      teams.empty() ? std::array{metric, examples, updates} : std::array{examples, metric, updates};
  std::ranges::copy_if(rest, std::back_inserter(fields),
                       [](const std::string& field) { return !field.empty(); });
  return fields;
}

std::string EvaluationLine(const Progress& progress, const MetricScale& scale) {
  const Evaluation& evaluation = *progress.evaluation;
  std::string line =
      fmt::format("epoch {:<6.4g} {:>6}", evaluation.epoch, ShortTime(progress.seconds));
  const auto add = [&](std::string_view split, const std::optional<EvaluationSums>& sums) {
    if (!sums || sums->rows == 0) return;
    line += fmt::format("  {} loss {:.4f}", split, sums->mean_loss());
    if (split != "train") line += fmt::format(" {}", MetricText(*sums, scale));
  };
  add("train", evaluation.train);
  add("valid", evaluation.valid);
  add("test", evaluation.test);
  if (progress.best) line += "  best";
  return line;
}

std::string WrapLine(std::string_view line, int width) {
  constexpr std::size_t kTextAt = 10, kLeast = 20;
  const auto room = static_cast<std::size_t>(std::max(width, 0));
  if (line.size() <= room || room < kTextAt + kLeast) return std::string(line);
  const bool has_name = line.size() > kTextAt && line[kTextAt - 1] == ' ' && line[kTextAt] != ' ';
  const std::size_t indent = has_name ? kTextAt : 2;
  std::string wrapped = Wrap(line.substr(has_name ? kTextAt : 0), room - indent);
  for (std::size_t at = 0; (at = wrapped.find('\n', at)) != std::string::npos; at += indent) {
    wrapped.insert(at + 1, indent, ' ');
  }
  return std::string(line.substr(0, has_name ? kTextAt : 0)) + wrapped;
}

int TerminalWidth(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool IsLiveTerminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) && !(terminal && std::string_view(terminal) == "dumb");
}

}  // namespace hogbatch
