// What the page says about itself: what is noise, and by which rules it was made.
#include <fmt/format.h>

#include <vector>

#include "compare/page/page_tables.h"
#include "compare/page/wording.h"
#include "report/html.h"

namespace hogbatch::compare {
namespace {

using report::Paragraph;

void AddIfNoise(std::vector<std::string>& found, const std::optional<CostFinding>& cost,
                const std::string& what, const std::string& side) {
  if (!cost || !cost->advantage || cost->advantage->verdict != Verdict::kNoise) return;
  found.push_back(fmt::format("{}, {}: {}", what, side, RatioText(cost->advantage)));
}

std::vector<std::string> NoisyDifferences(const Findings& findings) {
  std::vector<std::string> found;
  for (const RaceFinding& race : findings.races) {
    AddIfNoise(found, race.seconds, "time to the target", race.side);
    AddIfNoise(found, race.memory, "peak memory", race.side);
    AddIfNoise(found, race.cpu, "processor time", race.side);
    AddIfNoise(found, race.start, "time to the first epoch", race.side);
  }
  for (const SpeedFinding& speed : findings.speeds) {
    if (!speed.advantage || speed.advantage->verdict != Verdict::kNoise) continue;
    found.push_back(fmt::format("rows/s, {} at {} rows: {}", speed.variant, speed.side_batch,
                                RatioText(speed.advantage)));
  }
  for (const CurveFinding& curve : findings.curves) {
    if (curve.metric_difference && curve.metric_difference->verdict == Verdict::kNoise) {
      found.push_back(
          fmt::format("metric, {}: {:+.4f}", curve.side, curve.metric_difference->mean));
    }
  }
  return found;
}

}  // namespace

std::string Noise(const Comparison& comparison) {
  std::string html = Paragraph(fmt::format(
      "Sides take turns, so that the runs of one repeat meet the machine in the same state. A "
      "ratio "
      "is the geometric mean over the repeats, with a 95 % interval (Student's t on the logarithms "
      "of "
      "the paired ratios). A difference is noise if its interval includes 1, or if it is below "
      "{:.0f} %. The interval does not include what tuning by chance adds: compare two whole "
      "comparisons for that.",
      100 * kSmallestDifference));
  const std::vector<std::string> found = NoisyDifferences(comparison.findings);
  if (found.empty()) return html + Paragraph("No difference on this page is noise by this rule.");
  report::Table table{.header = {"differences that are noise"}, .rows = {}};
  for (const std::string& line : found) table.rows.push_back({line});
  return html + Html(table);
}

std::string Rules(const Comparison& comparison) {
  std::string alike;
  if (const auto& initial = comparison.findings.initial_loss) {
    alike = fmt::format(
        " Checked: the loss before the first update is {:.4f} with the first seed, and no side's "
        "differs by more than {:.1g} % of it with any seed.",
        initial->loss, 100 * initial->largest_difference);
  }
  return Paragraph(
             "Same data: the frameworks read the matrix that hogbatch encoded, with its split "
             "into training, validation and test rows. Same network, same initial weights, same "
             "loss. Same optimiser and a constant learning rate, without decay." +
             alike) +
         Paragraph(fmt::format(
             "Same machine: every side may use {} cores, alone. Every run is a process of its "
             "own. The data is in memory before the clock starts.",
             comparison.setting.threads)) +
         Paragraph(
             "Same clock: time in training, without start-up, compilation and evaluation. The "
             "frameworks stop training to evaluate. hogbatch evaluates beside training, and the "
             "time that its workers spend on it is taken off. Times to a loss are interpolated "
             "between two evaluations.") +
         Paragraph(
             "Same effort: variants of a framework (compiled or not) are measured first, and its "
             "fastest one at each batch size is tuned and raced. Variants slower than 80 % of it "
             "in a first look are not repeated.");
}

}  // namespace hogbatch::compare
