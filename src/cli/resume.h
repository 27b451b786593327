// train --resume: which run goes on.
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
  Checkpoint checkpoint;  // the newest that is not damaged
};

// The folder of the run that --resume names. With auto: the one in --out, or else the one
// under runs/ with the latest checkpoint; warns of folders there that cannot be read. Empty if
// there is no such run, or without --resume.
std::string FindRun(const TrainOptions& options, Console& console);
// The run in that folder, which is locked, so that no other run changes it any more. Warns of
// checkpoints that are damaged.
ResumedRun ReadRun(const std::string& folder, Console& console);

// Whether the run had the flag --NAME, as its options.json says, if it can be read.
bool HadFlag(const ResumedRun& run, const char* name);

// Rows trained when the checkpoint was taken.
std::int64_t ExamplesOf(const ResumedRun& run);
// "resumed   runs/first at epoch 2.4"
std::string ResumeLine(const ResumedRun& run, std::int64_t train_rows);

}  // namespace hogbatch
