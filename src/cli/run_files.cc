#include "cli/run_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "cli/options/config.h"
#include "training/checkpoint/kept_paths.h"
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
  spec = WithAbsolutePaths(std::move(spec));
  ConfigWriter writer;
  writer.Argument("data", spec.data);
  spec.Visit(writer);
  return writer.text();
}

KeepOptions KeepIn(const std::string& folder, const TrainingSpec& spec, const TrainingPlan& plan,
                   double every) {
  return {.folder = folder,
          .options = SpecToJson(WithAbsolutePaths(UsedSpec(spec, plan))),
          .every = every};
}

}  // namespace hogbatch
