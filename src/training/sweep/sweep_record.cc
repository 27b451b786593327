// The records of a sweep as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/guard/format_version.h"
#include "core/guard/json_text.h"
#include "core/text.h"
#include "training/model/json_numbers.h"
#include "training/sweep/trial_result.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSweepFormat = 1;
constexpr double kLargest = 1e300;       // of a loss: differences of them are finite
constexpr double kLargestLength = 1e12;  // in epochs or seconds

double Get(const Json& json, const char* name) {
  return json.contains(name) ? Real(json[name], kLargest, name)
                             : std::numeric_limits<double>::quiet_NaN();
}

Json ToJson(const OptionTexts& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts) json[name] = text;
  return json;
}

OptionTexts TextsFrom(const Json& json) {
  OptionTexts texts;
  for (const auto& [name, text] : json.items()) texts.emplace_back(name, text.get<std::string>());
  return texts;
}

Json ToJson(const TrialPoint& point) {
  Json json = {{"epoch", point.epoch}};
  PutNumber(json, "seconds", point.seconds);
  PutNumber(json, "train_loss", point.train_loss);
  PutNumber(json, "valid_loss", point.valid_loss);
  PutNumber(json, "valid_metric", point.valid_metric);
  PutNumber(json, "test_loss", point.test_loss);
  PutNumber(json, "test_metric", point.test_metric);
  return json;
}

// An epoch, or seconds.
double Length(const Json& json, const char* name) {
  const double length = Real(json.at(name), kLargestLength, name);
  Require(length >= 0, fmt::format("{} is {}", name, length));
  return length;
}

TrialPoint PointFrom(const Json& json) {
  return {.epoch = Length(json, "epoch"),
          .seconds = Get(json, "seconds"),
          .train_loss = Get(json, "train_loss"),
          .valid_loss = Get(json, "valid_loss"),
          .valid_metric = Get(json, "valid_metric"),
          .test_loss = Get(json, "test_loss"),
          .test_metric = Get(json, "test_metric")};
}

TrialState StateFrom(std::string_view name) {
  if (const std::optional<TrialState> state = FindOutcome(name)) return *state;
  throw UserError("an unknown state");
}

// As many losses as a trial in its state can have.
bool IsPossible(const TrialResult& result, std::size_t rungs) {
  const std::size_t ended = result.rung_losses.size();
  if (result.state == TrialState::kWaiting) return ended == 0;
  if (IsOver(result.state)) return ended <= rungs;
  return ended < rungs && (result.state != TrialState::kStopped || ended > 0);
}

Json ToJson(const Trial& trial, const TrialResult& result, std::size_t number,
            const std::string& metric) {
  Json json = {{"trial", number}, {"state", Name(result.state)}, {"varied", ToJson(trial.values)}};
  if (const TrialPoint* const best = result.best()) {
    json["best_epoch"] = best->epoch;
    PutNumber(json, "valid_loss", best->valid_loss);
    PutNumber(json, "valid_" + metric, best->valid_metric);
    PutNumber(json, "test_loss", best->test_loss);
    PutNumber(json, "test_" + metric, best->test_metric);
  }
  json["rung"] = result.rung_losses.size();
  Json& losses = json["rung_losses"] = Json::array();
  // A trial that failed has an infinite loss, for which JSON has no number.
  for (const double loss : result.rung_losses) {
    losses.push_back(std::isfinite(loss) ? Json(loss) : Json());
  }
  json["epoch"] = result.epoch;
  json["seconds"] = result.seconds;
  json["examples"] = result.examples;
  if (!result.note.empty()) json["note"] = result.note;
  Json& curve = json["curve"] = Json::array();
  for (const TrialPoint& point : result.curve) curve.push_back(ToJson(point));
  Json& options = json["options"] = Json::object();
  TrainingSpec spec = trial.spec;
  if (!spec.data.empty()) options["data"] = spec.data;
  for (const auto& [name, text] : TextsOf([&](OptionVisitor& all) { spec.Visit(all); })) {
    if (!text.empty()) options[name] = text;
  }
  return json;
}

TrialResult ResultFrom(const Json& json) {
  TrialResult result{.state = StateFrom(json.at("state").get<std::string>()),
                     .epoch = Length(json, "epoch"),
                     .seconds = Length(json, "seconds"),
                     .examples = Integer(json.at("examples"), 0, "examples"),
                     .note = json.value("note", "")};
  for (const Json& loss : json.at("rung_losses")) {
    result.rung_losses.push_back(loss.is_null() ? std::numeric_limits<double>::infinity()
                                                : Real(loss, kLargest, "rung_losses"));
  }
  for (const Json& point : json.at("curve")) result.curve.push_back(PointFrom(point));
  return result;
}

[[noreturn]] void ThrowDamaged(const std::string& source) {
  throw UserError(
      fmt::format("{} is damaged, or of another sweep; begin a new one in another folder", source));
}

BestModel BestFrom(const Json& json) {
  BestModel best;
  if (json.contains("best_loss")) best.loss = Real(json["best_loss"], kLargest, "best_loss");
  if (!json.contains("best_trial")) return best;
  const std::int64_t trial = Integer(json["best_trial"], 1, "best_trial");
  Require(trial <= kMostTrials, "best_trial");
  best.trial = trial - 1;
  return best;
}

std::string Field(double value) { return std::isfinite(value) ? fmt::format("{:g}", value) : ""; }

}  // namespace

std::string TrialJson(const SweepResults& sweep, std::size_t trial) {
  return JsonText(ToJson(sweep.trials[trial], sweep.results[trial], trial + 1, sweep.metric)) +
         "\n";
}

std::string TrialsJsonl(const SweepResults& sweep) {
  std::string text;
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) text += TrialJson(sweep, i);
  return text;
}

std::vector<TrialResult> ParseTrialsJsonl(std::string_view text, std::span<const Trial> trials,
                                          std::size_t rungs, const std::string& source) {
  const std::vector<std::string> lines = SplitLines(text);
  if (lines.size() != trials.size()) ThrowDamaged(source);
  std::vector<TrialResult> results;
  try {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto json = ParseJson<Json>(lines[i]);
      if (!json.is_object() || TextsFrom(json.at("varied")) != trials[i].values) {
        ThrowDamaged(source);
      }
      results.push_back(ResultFrom(json));
      if (!IsPossible(results.back(), rungs)) ThrowDamaged(source);
    }
  } catch (const nlohmann::json::exception&) {
    ThrowDamaged(source);
  } catch (const UserError&) {
    ThrowDamaged(source);
  }
  return results;
}

std::string TrialsCsv(const SweepResults& sweep) {
  std::string text = "trial,state";
  if (!sweep.trials.empty()) {
    for (const auto& [name, value] : sweep.trials.front().values) text += "," + CsvText(name);
  }
  text += fmt::format(
      ",valid_loss,valid_{0},test_loss,test_{0},train_loss,best_epoch,epoch,"
      "seconds,examples,rung,note\n",
      sweep.metric);
  for (const std::size_t i : Ranking(sweep.results)) {
    const TrialResult& result = sweep.results[i];
    text += fmt::format("{},{}", i + 1, Name(result.state));
    for (const auto& [name, value] : sweep.trials[i].values) text += "," + CsvText(value);
    const TrialPoint* const best = result.best();
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const TrialPoint none{unknown, unknown, unknown, unknown, unknown, unknown, unknown};
    const TrialPoint& shown = best ? *best : none;
    text += fmt::format(",{},{},{},{},{},{},{:g},{:.3f},{},{},{}\n", Field(shown.valid_loss),
                        Field(shown.valid_metric), Field(shown.test_loss), Field(shown.test_metric),
                        Field(shown.train_loss), Field(shown.epoch), result.epoch, result.seconds,
                        result.examples, result.rung_losses.size(), CsvText(result.note));
  }
  return text;
}

std::string SweepText(const SweepRecord& record) {
  Json json = {{"format", kSweepFormat},
               {"options", ToJson(record.options)},
               {"search", ToJson(record.search)},
               {"rows", record.rows},
               {"seconds", record.seconds}};
  PutNumber(json, "best_loss", record.best.loss);
  if (record.best.trial) json["best_trial"] = *record.best.trial + 1;
  return JsonText(json, 2) + "\n";
}

SweepRecord ParseSweep(std::string_view text, const std::string& source) {
  std::int64_t format = 0;
  try {
    const auto json = ParseJson<Json>(text);
    format = Integer(json.at("format"), 1, "format");
    if (format <= kSweepFormat) {
      return {.options = TextsFrom(json.at("options")),
              .search = TextsFrom(json.at("search")),
              .rows = json.at("rows").get<std::string>(),
              .seconds = Length(json, "seconds"),
              .best = BestFrom(json)};
    }
  } catch (const nlohmann::json::exception&) {
    ThrowDamaged(source);
  } catch (const UserError&) {
    ThrowDamaged(source);
  }
  RefuseNewerFormat(source, format, kSweepFormat);
  ThrowDamaged(source);
}

}  // namespace hogbatch
