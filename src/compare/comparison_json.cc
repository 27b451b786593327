#include <nlohmann/json.hpp>

#include "compare/comparison.h"
#include "compare/runs/record_json.h"
#include "compare/runs/run_log.h"
#include "core/guard/json_text.h"

namespace hogbatch::compare {
namespace {

Json JsonOf(const Spread& spread) {
  return {
      {"median", spread.median}, {"min", spread.min}, {"max", spread.max}, {"count", spread.count}};
}

Json JsonOf(const Ratio& ratio) {
  return {{"mean", ratio.mean},
          {"low", ratio.low},
          {"high", ratio.high},
          {"rounds", ratio.repeats},
          {"verdict", Name(ratio.verdict)}};
}

Json JsonOf(const Difference& difference) {
  return {{"mean", difference.mean},
          {"low", difference.low},
          {"high", difference.high},
          {"verdict", Name(difference.verdict)}};
}

void Put(Json& object, const char* key, const std::optional<CostFinding>& cost) {
  if (!cost) return;
  object[key] = JsonOf(cost->spread);
  if (cost->advantage) object[key]["advantage"] = JsonOf(*cost->advantage);
}

Json JsonOf(const SpeedFinding& speed) {
  Json json = {
      {"equal", speed.fairness == Fairness::kRowsPerUpdate ? "rows_per_update" : "rows_in_flight"},
      {"batch", speed.batch},
      {"side", speed.side},
      {"variant", speed.variant},
      {"side_batch", speed.side_batch},
      {"examples_per_second", JsonOf(speed.rate)},
      {"fastest_variant", speed.fastest_variant}};
  if (speed.advantage) json["advantage"] = JsonOf(*speed.advantage);
  return json;
}

Json JsonOf(const RaceFinding& race) {
  Json json = {{"side", race.side},
               {"variant", race.setting.variant},
               {"batch", race.setting.cell.batch},
               {"lr", race.setting.cell.lr},
               {"settings_tried", race.setting.tried},
               {"tuning_train_seconds", race.setting.tuning_seconds},
               {"at_edge_of_grid", race.setting.at_edge},
               {"lowest_loss_when_tuned", race.setting.loss},
               {"runs", race.runs},
               {"reached", race.reached}};
  if (race.reached < race.runs) json["not_reached_within_seconds"] = race.tried_seconds;
  Put(json, "seconds_to_target", race.seconds);
  Put(json, "peak_memory_bytes", race.memory);
  Put(json, "cpu_seconds", race.cpu);
  Put(json, "seconds_to_first_epoch", race.start);
  Put(json, "wall_seconds", race.wall);
  return json;
}

Json JsonOf(const CurveFinding& curve) {
  Json json = {{"side", curve.side}, {"train_seconds", curve.trained_seconds}};
  if (curve.loss) json["lowest_loss"] = JsonOf(*curve.loss);
  if (curve.metric) json["metric"] = JsonOf(*curve.metric);
  if (curve.metric_difference) json["metric_difference"] = JsonOf(*curve.metric_difference);
  Json levels = Json::array();
  for (const auto& seconds : curve.level_seconds) {
    levels.push_back(seconds ? Json(*seconds) : Json());
  }
  json["seconds_to_levels"] = std::move(levels);
  return json;
}

Json JsonOf(const Findings& findings) {
  Json json = Json::object();
  if (findings.target) {
    json["target_loss"] = findings.target->loss;
    json["target_chosen"] = findings.target->how;
  }
  if (findings.initial_loss) {
    json["initial_loss"] = findings.initial_loss->loss;
    json["initial_loss_largest_difference"] = findings.initial_loss->largest_difference;
  }
  json["others_cpu_median"] = findings.others_cpu;
  json["others_cpu_most"] = findings.most_others_cpu;
  json["levels"] = findings.levels;
  for (const SpeedFinding& speed : findings.speeds) json["throughput"].push_back(JsonOf(speed));
  for (const RaceFinding& race : findings.races) json["race"].push_back(JsonOf(race));
  for (const CurveFinding& curve : findings.curves) json["curves"].push_back(JsonOf(curve));
  for (const Failure& failure : findings.failures) {
    json["failures"].push_back({{"side", failure.side},
                                {"variant", failure.variant},
                                {"outcome", failure.outcome},
                                {"runs", failure.runs},
                                {"message", failure.message}});
  }
  return json;
}

Json JsonOf(const Problem& problem) {
  return {{"source", problem.source},
          {"train_rows", problem.train_rows},
          {"valid_rows", problem.valid_rows},
          {"test_rows", problem.test_rows},
          {"sparse", problem.is_sparse},
          {"network", problem.network},
          {"loss", problem.loss},
          {"optimizer", problem.optimizer}};
}

Json SidesJson(const Comparison& comparison) {
  Json sides = Json::array();
  for (const Side& side : comparison.sides) {
    sides.push_back({{"name", side.name},
                     {"version", side.version},
                     {"asynchronous", side.updates == Updates::kAsynchronous},
                     {"variants", side.variants}});
  }
  for (const Absent& absent : comparison.absent) {
    sides.push_back({{"name", absent.name}, {"absent", absent.why}});
  }
  return sides;
}

}  // namespace

std::string CompareJson(const Comparison& comparison) {
  Json json = {{"format", kCompareFormat},
               {"complete", comparison.complete},
               {"command", comparison.command},
               {"options", Json::object()},
               {"machine",
                {{"processor", comparison.machine.processor},
                 {"cores", comparison.machine.cores},
                 {"memory_bytes", comparison.machine.memory_bytes},
                 {"system", comparison.machine.system},
                 {"gpus", comparison.machine.gpu_names}}},
               {"threads", comparison.setting.threads},
               {"problem", JsonOf(comparison.setting.problem)},
               {"sides", SidesJson(comparison)}};
  for (const auto& [name, text] : comparison.identity) json["options"][name] = text;
  if (comparison.findings.target || !comparison.findings.speeds.empty()) {
    json["findings"] = JsonOf(comparison.findings);
  }
  json["runs"] = Json::array();
  for (const RunRecord& run : comparison.log.records()) json["runs"].push_back(JsonOf(run));
  return JsonText(json, 1) + "\n";
}

}  // namespace hogbatch::compare
