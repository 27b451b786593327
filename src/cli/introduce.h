// The first and last lines of a training: what was understood, and what came of it.
#pragma once

#include <string>
#include <vector>

#include "cli/live_line.h"
#include "datasets/dataset.h"
#include "nn/model_spec.h"
#include "runtime/control/progress.h"
#include "training/options.h"
#include "training/train_setup.h"

namespace hogbatch {

// The algorithm is not "auto" any more.
std::vector<std::string> IntroductionLines(const TrainOptions& options, const TrainPlan& plan,
                                           const TrainingData& training, const Dataset* test,
                                           const ModelSpec& spec, const std::string& folder);

std::vector<std::string> ConclusionLines(const RunResult& result, const QualityScale& scale,
                                         const std::string& folder);

// What to do about a loss that is no number any more.
std::string DivergenceAdvice(const RunResult& result, double rate);

}  // namespace hogbatch
