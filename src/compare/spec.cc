#include "compare/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "compare/runs/contestants.h"
#include "core/error.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch::compare {
namespace {

// "0.1,0.2 for sgd and 0.01,0.02 for adam".
std::string UsualRates() {
  std::vector<std::string> rates;
  for (const OptimizerInfo& info : Optimizers()) {
    rates.push_back(fmt::format("{:g} for {}", fmt::join(info.tuned_rates, ","), info.name));
  }
  return fmt::format("{}", fmt::join(rates, " and "));
}

std::vector<double> ParseRates(const CompareSpec& spec) {
  if (spec.lrs == "auto") {
    const auto& usual = InfoOf(spec.training.optimizer.kind()).tuned_rates;
    return {usual.begin(), usual.end()};
  }
  std::vector<double> rates;
  for (const std::string& part : SplitList(spec.lrs)) {
    const double rate = ParseReal("--lrs", part);
    if (!(rate > 0 && rate <= 1000)) {
      throw UserError(fmt::format("--lrs: {:g} is not a learning rate; it must be above 0", rate));
    }
    rates.push_back(rate);
  }
  if (rates.empty()) throw UserError("--lrs needs at least one learning rate, or auto");
  std::ranges::sort(rates);
  rates.erase(std::ranges::unique(rates).begin(), rates.end());
  return rates;
}

double ParseTarget(const std::string& text) {
  if (text == "auto") return 0;
  const double target = ParseReal("--target-loss", text);
  if (target > 0) return target;
  throw UserError("--target-loss must be above 0, or auto");
}

std::vector<std::int64_t> CheckedBatches(const std::vector<std::int64_t>& batches) {
  std::vector<std::int64_t> once;
  for (const std::int64_t batch : batches) {
    if (std::ranges::find(once, batch) == once.end()) once.push_back(batch);
  }
  if (once.empty()) throw UserError("--batches needs at least one batch size");
  return once;
}

// What hogbatch could do, and the baselines cannot.
void CheckComparable(const CompareSpec& spec) {
  if (spec.training.data == "-") {
    throw UserError(
        "compare reads the data several times, and standard input only once; name a file");
  }
  if (WeighsClasses(spec.training)) {
    throw UserError("compare cannot weigh classes: the baselines do not");
  }
  if (spec.training.stream) {
    throw UserError("compare keeps the data in memory, as the baselines do; leave out --stream");
  }
  if (!spec.training.weight.empty()) {
    throw UserError("compare cannot weigh rows: the baselines do not");
  }
}

}  // namespace

void CompareSpec::Visit(OptionVisitor& v) {
  training.VisitProblem(v);
  v.Group("Comparison");
  training.optimizer.VisitKind(v, "Optimiser of every side");
  training.optimizer.VisitMomentum(v, "Momentum of sgd, of every side");
  v.Text("against", against, "NAME,...",
         fmt::format("Frameworks to compare with: {}; all or none", BaselineNames()));
  v.Number("threads", threads, {0, 4096}, "Cores that each side uses; 0 means all");
  VisitDevices(v, devices, "every GPU, and the cores beside them");
  v.Text("budget", budget, "TIME",
         "Time for the whole comparison: 90 (seconds), 20m or 2h. The smallest comparison may take "
         "longer");
  v.Numbers("batches", batches, {1, 1 << 24},
            "Batch sizes to measure and to tune over, the most important first: the last are left "
            "out when the budget is small");
  v.Text("lrs", lrs, "X,X,...", fmt::format("Learning rates to tune over; auto: {}", UsualRates()));
  v.Text("target-loss", target_loss, "X",
         "Validation loss to reach; auto: one that every side reached when it was tuned");
  v.Number("seeds", seeds, {1, 100},
           "Repeats with the best setting of each side, each from other "
           "initial weights");
  v.Number("rounds", repeats, {1, 100}, "Repeats of each measurement of throughput");
  v.Text("max-run", max_run, "TIME", "Time limit of a single run");
  v.Flag("throughput", throughput,
         "Measure throughput only, and give it all of the time: no tuning, no race to a loss");
  v.Flag("quick", quick,
         "Very short runs, to check that everything works; the figures mean little");
  v.Text("out", out, "DIR",
         "Folder for the results; one that holds part of the same comparison is completed. If not "
         "given, compare-NAME, after the data");
}

ComparePlan PlanOf(const CompareSpec& spec) {
  Validate(spec.training);
  WantedBaselines(spec.against);
  CheckComparable(spec);
  const bool quick = spec.quick;
  return {.budget_seconds = ParseDuration("--budget", spec.budget),
          .trains = !spec.throughput,
          .batches = CheckedBatches(spec.batches),
          .lrs = ParseRates(spec),
          .target_loss = ParseTarget(spec.target_loss),
          .seeds = spec.seeds,
          .repeats = spec.repeats,
          .max_run_seconds = ParseDuration("--max-run", spec.max_run),
          .throughput_seconds = quick ? 0.2 : 2,
          .shortest_seconds = quick ? 0.2 : 2,
          .longest_seconds = quick ? 0.5 : 60,
          .edge_cells = quick ? 0u : 4u,
          .survivors = quick ? 1u : 3u};
}

std::vector<std::string> WantedBaselines(const std::string& against) {
  std::vector<std::string> known = KnownBaselines();
  if (against == "all") return known;
  std::vector<std::string> wanted;
  if (against == "none") return wanted;
  for (const std::string& part : SplitList(against)) {
    if (std::ranges::find(known, part) == known.end()) {
      throw UserError(fmt::format("--against: unknown framework '{}'; choose from {}{}", part,
                                  BaselineNames(), DidYouMean(part, known)));
    }
    wanted.push_back(part);
  }
  if (wanted.empty()) throw UserError("--against needs the name of a framework, all or none");
  return wanted;
}

std::string CompareFolder(const CompareSpec& spec) {
  if (!spec.out.empty()) return spec.out;
  const std::string& data = spec.training.data;
  std::string name = data.empty() ? "builtin" : std::filesystem::path(data).filename().string();
  return "compare-" + name.substr(0, name.find('.', 1));
}

}  // namespace hogbatch::compare
