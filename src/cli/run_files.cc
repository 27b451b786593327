#include "cli/run_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "cli/options/config.h"
#include "core/replaced_file.h"
#include "report/record_format.h"
#include "training/checkpoint/kept_paths.h"
#include "training/checkpoint/spec_text.h"

namespace hogbatch {
namespace {

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

}  // namespace

void WriteSettings(const std::string& folder, const TrainOptions& options, const TrainingPlan& plan,
                   const Devices& devices, const TrainingInput& input) {
  ReplaceFile(
      folder + "/" + report::kOptionsFile,
      OptionsText(options, plan, {.started = LocalTime(), .devices = devices, .input = input}));
  ReplaceFile(folder + "/config.toml", ConfigOf(options.spec));
}

KeepOptions KeepIn(const std::string& folder, const TrainingSpec& spec, const TrainingPlan& plan,
                   double every) {
  return {.folder = folder,
          .options = SpecToJson(WithAbsolutePaths(UsedSpec(spec, plan))),
          .every = every};
}

SavedResults SaveResults(const std::string& folder, const TrainedModel& trained,
                         const TrainingPlan& plan, const MetricScale& scale,
                         TrainingObserver& observer, double seconds) {
  const std::string place =
      trained.model ? SaveLast(*trained.model, folder, observer, seconds) : folder;
  SavedResults saved{.folder = place,
                     .summary = SummaryText(trained.run, FactsOf(plan, place), scale)};
  ReplaceFile(place + "/" + report::kSummaryFile, saved.summary);
  return saved;
}

}  // namespace hogbatch
