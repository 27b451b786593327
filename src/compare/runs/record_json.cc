#include "compare/runs/record_json.h"

#include <fmt/format.h>

#include <string>

#include "core/error.h"

namespace hogbatch::compare {
namespace {

Json JsonOf(const RunPlan& plan) {
  Json json = {{"phase", Name(plan.phase)},
               {"side", plan.side},
               {"variant", plan.variant},
               {"batch", plan.batch},
               {"lr", plan.lr},
               {"seed", plan.seed},
               {"round", plan.repeat},
               {"max_train_seconds", plan.seconds},
               {"max_epochs", plan.epochs},
               {"eval_every", plan.eval_every},
               {"extra_seconds", plan.extra_seconds}};
  if (plan.stop) json["target_loss"] = *plan.stop;
  return json;
}

// A conversion of a fraction, or of a number beyond integers, would be undefined.
std::int64_t WholeAt(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer()) throw UserError(fmt::format("{} is not a whole number", key));
  return value.get<std::int64_t>();
}

RunPlan PlanFrom(const Json& json) {
  RunPlan plan{.phase = ParsePhase(json.at("phase").get<std::string>()),
               .side = json.at("side"),
               .variant = json.at("variant"),
               .batch = WholeAt(json, "batch"),
               .lr = json.at("lr"),
               .seed = WholeAt(json, "seed"),
               .repeat = WholeAt(json, "round"),
               .seconds = json.at("max_train_seconds"),
               .epochs = json.at("max_epochs"),
               .eval_every = json.at("eval_every"),
               .extra_seconds = json.at("extra_seconds"),
               .stop = {}};
  if (json.contains("target_loss")) plan.stop = json.at("target_loss").get<double>();
  return plan;
}

// [train_seconds, epoch, loss] or, with a metric, one more.
Json JsonOf(const CurvePoint& point) {
  Json json = {point.seconds, point.epoch, point.loss};
  if (point.metric) json.push_back(*point.metric);
  return json;
}

CurvePoint PointFrom(const Json& json) {
  CurvePoint point{.seconds = json.at(0), .epoch = json.at(1), .loss = json.at(2), .metric = {}};
  if (json.size() > 3) point.metric = json.at(3).get<double>();
  return point;
}

}  // namespace

Json JsonOf(const RunRecord& record) {
  Json json = JsonOf(record.plan);
  json["outcome"] = Name(record.outcome);
  if (!record.message.empty()) json["message"] = record.message;
  json["wall_seconds"] = record.wall_seconds;
  json["cpu_seconds"] = record.cpu_seconds;
  json["others_cpu"] = record.others_cpu;
  json["peak_memory_bytes"] = record.peak_bytes;
  json["seconds"] = record.seconds;
  json["train_seconds"] = record.train_seconds;
  json["examples_per_second"] = record.examples_per_second;
  json["command"] = record.command;
  json["metric"] = record.metric;
  json["curve"] = Json::array();
  for (const CurvePoint& point : record.curve) json["curve"].push_back(JsonOf(point));
  return json;
}

RunRecord RecordFrom(const Json& json) {
  RunRecord record{.plan = PlanFrom(json),
                   .outcome = ParseOutcome(json.at("outcome").get<std::string>()),
                   .message = json.value("message", ""),
                   .wall_seconds = json.at("wall_seconds"),
                   .cpu_seconds = json.at("cpu_seconds"),
                   .others_cpu = json.at("others_cpu"),
                   .peak_bytes = WholeAt(json, "peak_memory_bytes"),
                   .seconds = json.at("seconds"),
                   .train_seconds = json.at("train_seconds"),
                   .examples_per_second = json.at("examples_per_second"),
                   .metric = json.at("metric"),
                   .curve = {},
                   .command = json.at("command")};
  for (const Json& point : json.at("curve")) record.curve.push_back(PointFrom(point));
  return record;
}

}  // namespace hogbatch::compare
