// train --resume: which run goes on, and with which options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/options/options.h"
#include "training/checkpoint/checkpoint_file.h"

namespace hogbatch {

struct ResumedRun {
  std::string folder;
  Checkpoint checkpoint;  // the newest that can be read
};

// The run that --resume names. With auto: the one in --out, or else the latest under runs/ that has
// a checkpoint; none if there is no such run, or without --resume. Warns of checkpoints that cannot
// be read.
std::optional<ResumedRun> FindRun(const TrainOptions& options, Console& console);

// Rows trained when the checkpoint was taken.
std::int64_t ExamplesOf(const ResumedRun& run);
// "resumed   runs/first at epoch 2.4"
std::string ResumeLine(const ResumedRun& run, std::int64_t train_rows);

// The options that the run had, with the few that may change as the user gave them now. UserError
// for another option that differs.
TrainingSpec ResumedSpec(const TrainOptions& options, const ResumedRun& run);

}  // namespace hogbatch
