// Writes the files of a run, for train and queue alike.
#pragma once

#include <string>

#include "cli/reports/records.h"
#include "training/checkpoint/run_keeper.h"
#include "training/model/last_save.h"
#include "training/plan.h"
#include "training/spec.h"
#include "training/train.h"

namespace hogbatch {

// Before training: options.json, and config.toml, which repeats the run from any folder.
void WriteSettings(const std::string& folder, const TrainOptions& options, const TrainingPlan& plan,
                   const Devices& devices, const TrainingInput& input);

// The options of a run as its checkpoints keep them, with what the plan chose. `every`: seconds.
KeepOptions KeepIn(const std::string& folder, const TrainingSpec& spec, const TrainingPlan& plan,
                   double every);

struct SavedResults {
  std::string folder;   // has the files
  std::string summary;  // the text of summary.json
};
// After training: the model, if there is one, and summary.json. They are in another folder if
// SaveLast had to choose one.
SavedResults SaveResults(const std::string& folder, const TrainedModel& trained,
                         const TrainingPlan& plan, const MetricScale& scale,
                         TrainingObserver& observer, double seconds = kSaveSeconds);

}  // namespace hogbatch
