#include "cli/reports/records.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cli/reports/team_report.h"
#include "core/guard/json_text.h"
#include "core/option_values.h"
#include "report/record_format.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

void PutSplit(Json& object, const std::string& split, const std::optional<EvaluationSums>& sums,
              const MetricScale& scale) {
  if (!sums || sums->rows == 0) return;
  PutNumber(object, split + "_loss", sums->mean_loss());
  for (const Metric& metric : MetricsOf(*sums, scale)) {
    PutNumber(object, split + "_" + metric.name, metric.value);
  }
}

void PutEvaluation(Json& object, const std::optional<Evaluation>& evaluation,
                   const MetricScale& scale) {
  if (!evaluation) return;
  PutSplit(object, "train", evaluation->train, scale);
  PutSplit(object, "valid", evaluation->valid, scale);
  PutSplit(object, "test", evaluation->test, scale);
}

void PutCounts(Json& object, const Progress& progress) {
  PutNumber(object, "seconds", progress.seconds);
  PutNumber(object, "train_seconds", progress.train_seconds);
  PutNumber(object, "epoch", progress.epoch);
  object["examples"] = progress.examples;
  object["updates"] = progress.updates;
}

void PutWorkers(Json& object, const Progress& progress) {
  if (progress.workers.empty()) return;
  Json updates = Json::object();
  Json rows = Json::object();
  Json busy = Json::object();
  Json failures = Json::object();
  for (const WorkerTotals& worker : progress.workers) {
    updates[worker.name] = worker.updates;
    if (worker.batch_size > 0) rows[worker.name] = worker.batch_size;
    PutNumber(busy, worker.name, worker.busy_fraction);
    if (!worker.failure.empty()) failures[worker.name] = worker.failure;
  }
  object["updates_by_worker"] = std::move(updates);
  object["batch_rows_by_worker"] = std::move(rows);
  object["busy_fraction_by_worker"] = std::move(busy);
  if (!failures.empty()) object["failures_by_worker"] = std::move(failures);
}

void PutTeams(Json& object, const Progress& progress) {
  if (progress.teams.empty()) return;
  Json shares = Json::object();
  Json rates = Json::object();
  Json bounds = Json::object();
  for (const TeamId id : progress.teams.ids()) {
    const TeamProgress& team = progress.teams[id];
    PutNumber(shares, team.name, team.update_share);
    PutNumber(rates, team.name, team.rows_per_second);
    if (const auto bound = MostBound(progress, id)) {
      bounds[team.name] = {{"bound", Name(bound->by)}, {"rows", bound->batch_size}};
      PutNumber(bounds[team.name], "share_of_reviews", bound->share_of_reviews);
    }
  }
  object["update_share_by_team"] = std::move(shares);
  object["rows_per_second_by_team"] = std::move(rates);
  object["bounds_hit"] = std::move(bounds);
}

// Merges by their staleness: {"0": 90, "1": 7, "2": 3} has three with a staleness of 2 or 3.
void PutStaleness(Json& object, const StalenessHistogram& staleness) {
  const auto& counts = staleness.merges;
  const auto last =
      std::find_if(counts.rbegin(), counts.rend(), [](std::int64_t merges) { return merges > 0; });
  const auto buckets = static_cast<std::size_t>(counts.rend() - last);
  if (buckets == 0) return;
  Json merges = Json::object();
  for (std::size_t i = 0; i < buckets; ++i) {
    merges[std::to_string(StalenessHistogram::From(i))] = counts[i];
  }
  object["staleness"] = std::move(merges);
}

void PutTeamwork(Json& object, const Progress& progress) {
  PutTeams(object, progress);
  PutStaleness(object, progress.staleness);
  if (progress.beta) PutNumber(object, "beta", *progress.beta);
}

Json MachineOf(const TrainingPlan& plan, const Devices& devices) {
  Json machine = {{"processor", devices.processor}, {"cores", devices.cores}};
  if (devices.host_memory_bytes > 0) machine["memory_bytes"] = devices.host_memory_bytes;
  machine["workers"] = Json::array();
  for (const DeviceChoice& choice : plan.work.devices) {
    machine["workers"].push_back(choice.info.name);
    if (choice.info.kind != DeviceKind::kCpu) {
      machine[choice.info.name] = choice.info.description;
    }
  }
  return machine;
}

Json DatasetOf(const TrainingInput& input) {
  const TrainingData& training = input.training;
  Json dataset = {{"source", training.data.source},
                  {"rows", training.train_rows},
                  {"validation_rows", training.data.rows - training.train_rows},
                  {"features", training.data.features},
                  {"storage", training.data.is_sparse ? "sparse" : "dense"},
                  {"memory_bytes", training.data.bytes()},
                  {"label_kind", Name(training.schema.label_kind)},
                  {"outputs", training.schema.outputs()},
                  {"scaling", Name(training.schema.scaling)}};
  if (input.test) {
    dataset["test_source"] = input.test->source;
    dataset["test_rows"] = input.test->rows;
  }
  return dataset;
}

Json NetworkOf(const ModelSpec& spec) {
  return {{"inputs", spec.inputs},   {"hidden", spec.hidden},
          {"outputs", spec.outputs}, {"activation", Name(spec.activation)},
          {"loss", Name(spec.loss)}, {"parameters", Layout(spec).parameters}};
}

}  // namespace

std::string MetricsLine(const Progress& progress, const MetricScale& scale) {
  Json line = Json::object();
  PutCounts(line, progress);
  if (progress.running_loss) PutNumber(line, "running_loss", *progress.running_loss);
  PutEvaluation(line, progress.evaluation, scale);
  PutNumber(line, "examples_per_second", progress.examples_per_second);
  PutWorkers(line, progress);
  // With one worker there are no shares, and nothing is stale.
  if (progress.workers.size() > 1) PutTeamwork(line, progress);
  if (progress.lost_rows > 0) line["lost_rows"] = progress.lost_rows;
  return JsonText(line);
}

std::string SummaryText(const RunResult& result, const SummaryFacts& facts,
                        const MetricScale& scale) {
  Json summary = Json::object();
  summary["format"] = report::kRecordFormat;
  const Progress& totals = result.totals;
  PutCounts(summary, totals);
  PutEvaluation(summary, result.saved, scale);
  if (totals.train_seconds > 0) {
    PutNumber(summary, "examples_per_second",
              static_cast<double>(totals.examples) / totals.train_seconds);
  }
  summary["algorithm"] = facts.algorithm;
  summary["devices"] = facts.devices;
  summary["seed"] = facts.seed;
  summary["parameters"] = facts.parameters;
  if (result.saved) summary["best_epoch"] = result.saved->epoch;
  summary["stopped_because"] = Name(result.stopped_because);
  summary["learning_rate_factor"] = result.rate_factor;
  PutWorkers(summary, totals);
  PutTeamwork(summary, totals);
  if (totals.lost_rows > 0) summary["lost_rows"] = totals.lost_rows;
  summary["out"] = facts.out;
  return JsonText(summary, 2) + "\n";
}

std::string OptionsText(const TrainOptions& options, const TrainingPlan& plan,
                        const RunSetting& setting) {
  TrainOptions used = options;
  used.spec = UsedSpec(options.spec, plan);
  Json object = Json::object();
  object["options_format"] = report::kRecordFormat;  // "format" is an option
  object["version"] = HOGBATCH_VERSION;
  object["started"] = setting.started;
  if (!used.spec.data.empty()) object["data"] = used.spec.data;
  OptionValues values([&](std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const std::string&>) {
      if (value.empty()) return;  // not given
    }
    object[std::string(name)] = value;
  });
  used.Visit(values);
  object["machine"] = MachineOf(plan, setting.devices);
  object["dataset"] = DatasetOf(setting.input);
  object["network"] = NetworkOf(plan.work.model);
  return JsonText(object, 2) + "\n";
}

}  // namespace hogbatch
