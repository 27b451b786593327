#include "cli/run_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "cli/options/config.h"
#include "core/text.h"
#include "training/checkpoint/spec_text.h"

namespace hogbatch {

std::string LocalTime() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

SummaryFacts FactsOf(const TrainingPlan& plan, const std::string& folder) {
  SummaryFacts facts{.algorithm = plan.algorithm,
                     .seed = static_cast<std::int64_t>(plan.seed),
                     .parameters = Layout(plan.work.model).parameters,
                     .out = folder};
  for (const DeviceChoice& choice : plan.work.devices) facts.devices.push_back(choice.info.name);
  return facts;
}

std::string ConfigOf(TrainingSpec spec) {
  std::error_code error;
  const auto absolute = [&](const std::string& path) {
    const bool is_file = !path.empty() && path != "-";
    return is_file ? std::filesystem::absolute(path, error).string() : path;
  };
  std::string data;
  for (const std::string& file : SplitLines(spec.data)) {
    data += (data.empty() ? "" : "\n") + absolute(file);
  }
  ConfigWriter writer;
  writer.Argument("data", data);
  spec.test = absolute(spec.test);
  spec.valid = absolute(spec.valid);
  spec.reading.labels = absolute(spec.reading.labels);
  spec.Visit(writer);
  return writer.text();
}

KeepOptions KeepIn(const std::string& folder, const TrainingSpec& spec, const TrainingPlan& plan,
                   double every) {
  return {.folder = folder, .options = SpecToJson(UsedSpec(spec, plan)), .every = every};
}

}  // namespace hogbatch
