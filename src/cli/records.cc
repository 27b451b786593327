#include "cli/records.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

void Put(Json& object, const std::string& key, double value) {
  if (std::isfinite(value)) object[key] = value;
}

void PutSplit(Json& object, const std::string& split, const std::optional<EvaluationSums>& sums,
              const QualityScale& scale) {
  if (!sums || sums->rows == 0) return;
  Put(object, split + "_loss", sums->mean_loss());
  for (const Quality& quality : Qualities(*sums, scale)) {
    Put(object, split + "_" + quality.name, quality.value);
  }
}

void PutEvaluation(Json& object, const std::optional<Evaluation>& evaluation,
                   const QualityScale& scale) {
  if (!evaluation) return;
  PutSplit(object, "train", evaluation->train, scale);
  PutSplit(object, "valid", evaluation->valid, scale);
  PutSplit(object, "test", evaluation->test, scale);
}

void PutCounts(Json& object, const Progress& progress) {
  Put(object, "seconds", progress.seconds);
  Put(object, "train_seconds", progress.train_seconds);
  Put(object, "epoch", progress.epoch);
  object["examples"] = progress.examples;
  object["updates"] = progress.updates;
}

// Writes what it visits instead of changing it.
class JsonWriter final : public OptionVisitor {
 public:
  explicit JsonWriter(Json& object) : object_(object) {}
  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view) override { Set(name, value); }
  void Number(std::string_view name, std::int64_t& value, Range, std::string_view) override {
    Set(name, value);
  }
  void Number(std::string_view name, double& value, Range, std::string_view) override {
    Set(name, value);
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
               std::string_view) override {
    Set(name, value);
  }
  void Word(std::string_view name, std::string& value, const Words&, std::string_view) override {
    Set(name, value);
  }
  void Text(std::string_view name, std::string& value, std::string_view,
            std::string_view) override {
    if (!value.empty()) Set(name, value);
  }

 private:
  template <typename T>
  void Set(std::string_view name, const T& value) {
    object_[std::string(name)] = value;
  }

  Json& object_;
};

// Paths and labels may hold any bytes; those that are not UTF-8 are replaced rather than fatal.
std::string Dump(const Json& object, int indent) {
  return object.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string MetricsLine(const Progress& progress, const QualityScale& scale) {
  Json line;
  PutCounts(line, progress);
  if (progress.running_loss) Put(line, "running_loss", *progress.running_loss);
  PutEvaluation(line, progress.evaluation, scale);
  Put(line, "examples_per_second", progress.examples_per_second);
  return Dump(line, -1);
}

std::string SummaryText(const RunResult& result, const SummaryFacts& facts,
                        const QualityScale& scale) {
  Json summary;
  const Progress& totals = result.totals;
  PutCounts(summary, totals);
  PutEvaluation(summary, result.saved, scale);
  if (totals.train_seconds > 0) {
    Put(summary, "examples_per_second",
        static_cast<double>(totals.examples) / totals.train_seconds);
  }
  summary["algorithm"] = facts.algorithm;
  summary["devices"] = facts.devices;
  summary["seed"] = facts.seed;
  summary["parameters"] = facts.parameters;
  if (result.saved) summary["best_epoch"] = result.saved->epoch;
  summary["stopped_because"] = Name(result.stopped_because);
  summary["updates_by_worker"] = Json::object();
  summary["busy_fraction_by_worker"] = Json::object();
  for (const WorkerTotals& worker : result.totals.workers) {
    summary["updates_by_worker"][worker.name] = worker.updates;
    Put(summary["busy_fraction_by_worker"], worker.name, worker.busy_fraction);
    if (!worker.failure.empty()) summary["failures_by_worker"][worker.name] = worker.failure;
  }
  summary["out"] = facts.out;
  return Dump(summary, 2) + "\n";
}

std::string OptionsText(TrainOptions options) {
  Json object;
  if (!options.data.empty()) object["data"] = options.data;
  JsonWriter writer(object);
  options.Visit(writer);
  return Dump(object, 2) + "\n";
}

}  // namespace hogbatch
