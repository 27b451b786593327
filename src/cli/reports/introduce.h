// The first and last lines of a training: its plan and its result.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/live_line.h"
#include "training/input.h"
#include "training/plan.h"
#include "training/spec.h"
#include "training/train.h"

namespace hogbatch {

// What was read.
std::vector<std::string> DataLines(const TrainingInput& input);

std::vector<std::string> IntroductionLines(const TrainingSpec& spec, const TrainingPlan& plan,
                                           const TrainingInput& input, const std::string& folder);

std::vector<std::string> ConclusionLines(const TrainedModel& trained, const MetricScale& scale,
                                         const std::string& folder);

// It diverged and went back, and no later model is better than that of epoch 0.
bool NeverImproved(const RunResult& run);
// What to do about a training that diverged.
std::string DivergenceAdvice(const TrainedModel& trained, double learning_rate);

}  // namespace hogbatch
