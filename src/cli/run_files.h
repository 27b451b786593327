// What the files of a run say, for train and queue alike.
#pragma once

#include <string>

#include "cli/reports/records.h"
#include "training/checkpoint/run_keeper.h"
#include "training/plan.h"
#include "training/spec.h"

namespace hogbatch {

std::string LocalTime();  // "2026-11-17 12:30:00"

SummaryFacts FactsOf(const TrainingPlan& plan, const std::string& folder);

// The options of a run for --config, which repeats it from any folder.
std::string ConfigOf(TrainingSpec spec);

// The options of a run as its checkpoints keep them, with what the plan chose. `every`: seconds.
KeepOptions KeepIn(const std::string& folder, const TrainingSpec& spec, const TrainingPlan& plan,
                   double every);

}  // namespace hogbatch
