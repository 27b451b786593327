#include "cli/queue/queue_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.h"
#include "core/guard/format_version.h"
#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr int kQueueFormat = 1;

std::size_t NameWidth(std::span<const JobRow> jobs) {
  std::size_t width = 4;
  for (const JobRow& job : jobs) width = std::max(width, job.name.size());
  return width;
}

std::string Seconds(std::optional<double> seconds) {
  return seconds ? ShortTime(*seconds) : std::string("-");
}

// The nearest rank.
double Percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

[[noreturn]] void ThrowDamaged(const std::string& source) {
  throw UserError(fmt::format("{} is damaged: it is not what hogbatch queue writes", source));
}

// Of epochs or seconds: what goes beyond would not fit the integers that they are shown as.
double NumberIn(const nlohmann::json& json, const std::string& source) {
  const auto number = json.get<double>();
  if (!(number >= 0 && number <= 1e15)) ThrowDamaged(source);
  return number;
}

}  // namespace

std::vector<std::string> TableLines(std::span<const JobRow> jobs) {
  const std::size_t width = NameWidth(jobs);
  std::vector<std::string> lines = {fmt::format("{:{}}  {:11}  {:>11}  {:>8}  {:>7}  {:>8}  {}",
                                                "job", width, "state", "epoch", "loss", "devices",
                                                "left", "metric")};
  for (const JobRow& job : jobs) {
    lines.push_back(fmt::format(
        "{:{}}  {:11}  {:>11}  {:>8}  {:>7}  {:>8}  {}", job.name, width, Name(job.outcome),
        fmt::format("{:.2f}/{:g}", job.epoch, job.epochs),
        job.loss ? fmt::format("{:.4f}", *job.loss) : "-",
        job.outcome == JobOutcome::kRunning ? fmt::format("{:.0f} %", 100 * job.share) : "-",
        job.outcome == JobOutcome::kRunning ? Seconds(job.seconds_left) : "-", job.metric));
  }
  return lines;
}

std::vector<std::string> SummaryLines(std::span<const JobRow> jobs) {
  const std::size_t width = NameWidth(jobs);
  std::vector<std::string> lines = {fmt::format("{:{}}  {:11}  {:>8}  {:>8}  {:>8}  {:>8}  {}",
                                                "job", width, "state", "arrived", "waited", "took",
                                                "service", "metric")};
  std::vector<double> completions;
  for (const JobRow& job : jobs) {
    const double service = std::accumulate(job.service.begin(), job.service.end(), 0.0);
    std::optional<double> waited, took;
    if (job.began) waited = *job.began - job.arrived;
    if (job.ended && job.began) took = *job.ended - job.arrived;
    if (took && job.outcome == JobOutcome::kDone) completions.push_back(*took);
    lines.push_back(fmt::format("{:{}}  {:11}  {:>8}  {:>8}  {:>8}  {:>8}  {}", job.name, width,
                                Name(job.outcome), ShortTime(job.arrived), Seconds(waited),
                                Seconds(took), ShortTime(service),
                                job.error.empty() ? job.metric : job.error));
  }
  if (completions.empty()) return lines;
  const double mean = std::accumulate(completions.begin(), completions.end(), 0.0) /
                      static_cast<double>(completions.size());
  lines.push_back(fmt::format("completion time of {} job{}: mean {}, 95th percentile {}",
                              completions.size(), completions.size() == 1 ? "" : "s",
                              ShortTime(mean), ShortTime(Percentile(completions, 0.95))));
  return lines;
}

std::string QueueText(std::string_view scheduler, std::span<const std::string> devices,
                      std::span<const JobRow> jobs) {
  nlohmann::ordered_json text = {{"format", kQueueFormat}, {"scheduler", scheduler}};
  text["devices"] = std::vector<std::string>(devices.begin(), devices.end());
  text["jobs"] = nlohmann::ordered_json::array();
  for (const JobRow& job : jobs) {
    nlohmann::ordered_json entry = {{"name", job.name}, {"state", Name(job.outcome)}};
    entry["arrived"] = job.arrived;
    if (job.began) entry["started"] = *job.began;
    if (job.ended) entry["completed"] = *job.ended;
    entry["epoch"] = job.epoch;
    const std::size_t served = std::min(job.service.size(), devices.size());
    if (served > 0) entry["service_seconds"] = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < served; ++i) {
      entry["service_seconds"][devices[i]] = job.service[i];
    }
    if (!job.reason.empty()) entry["stopped_because"] = job.reason;
    if (!job.error.empty()) entry["error"] = job.error;
    text["jobs"].push_back(entry);
  }
  return JsonText(text, 2) + "\n";
}

EarlierQueue ParseQueue(std::string_view text, const std::string& source,
                        std::span<const std::string> devices) {
  EarlierQueue queue;
  try {
    const auto json = ParseJson<nlohmann::json>(text);
    if (!json.is_object() || !json.at("format").is_number_integer()) ThrowDamaged(source);
    const auto format = json["format"].get<std::int64_t>();
    if (format < 1) ThrowDamaged(source);
    RefuseNewerFormat(source, format, kQueueFormat);
    queue.scheduler = json.at("scheduler").get<std::string>();
    for (const nlohmann::json& job : json.at("jobs")) {
      const std::optional<JobOutcome> outcome = FindOutcome(job.at("state").get<std::string>());
      if (!outcome) ThrowDamaged(source);
      JobRow& row = queue.jobs.emplace_back();
      row.name = job.at("name").get<std::string>();
      row.outcome = *outcome;
      row.epoch = row.epochs = NumberIn(job.at("epoch"), source);
      row.arrived = NumberIn(job.at("arrived"), source);
      if (job.contains("started")) row.began = NumberIn(job["started"], source);
      if (job.contains("completed")) row.ended = NumberIn(job["completed"], source);
      const nlohmann::json service = job.value("service_seconds", nlohmann::json::object());
      for (const std::string& device : devices) {
        row.service.push_back(NumberIn(service.value(device, nlohmann::json(0.0)), source));
      }
      row.reason = job.value("stopped_because", "");
      row.error = job.value("error", "");
    }
  } catch (const nlohmann::json::exception&) {
    ThrowDamaged(source);
  }
  return queue;
}

}  // namespace hogbatch
