// A sweep as text: the table of trials, how far it is, and the command that trains the best alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "device/device_info.h"
#include "nn/metric_values.h"
#include "report/sweep_page.h"
#include "training/sweep/sweep_models.h"
#include "training/sweep/sweep_run.h"
#include "training/sweep/sweep_spec.h"
#include "training/sweep/trial_result.h"

namespace hogbatch {

// Cells below each other, which end at the right.
std::vector<std::string> Aligned(const std::vector<std::vector<std::string>>& rows);

// A line of names, and one for each of the best trials, at most `most` of them.
std::vector<std::string> TrialTable(const SweepResults& sweep, std::size_t most);

// The line of one trial: its options, losses and state.
std::string TrialLine(const SweepResults& sweep, std::size_t trial);

// "12 of 64 trials done, 2 running, 3 diverged; 3m05s left".
std::string SweepProgressLine(const SweepResults& sweep, std::optional<double> seconds_left);

// Seconds to the end, if epochs take as long as before; none while there is nothing to go by.
std::optional<double> SecondsLeft(const SweepResults& sweep, double expected_epochs,
                                  double seconds);

// "hogbatch train mine.csv --lr 0.1 …" for a shell: the options of a trial that are not defaults. A
// trial trains on one worker of `kind`.
std::string TrainCommand(const Trial& trial, DeviceKind kind);

// "5 members: validation loss 0.21, accuracy 0.93; the best member alone 0.24, 0.92; test …".
std::string EnsembleLine(const SweepResults& sweep, const EnsembleQuality& quality,
                         std::size_t members);
// The same as JSON, with the folder of the model.
std::string EnsembleJson(const SweepResults& sweep, const EnsembleQuality& quality,
                         const std::string& folder);

// What the page of a sweep shows.
report::SweepView MakeSweepView(const SweepResults& sweep, const SweepPlan& plan, Search search);

}  // namespace hogbatch
