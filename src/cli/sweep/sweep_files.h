// The files of a sweep, and how it goes on from them.
#pragma once

#include <optional>
#include <string>

#include "cli/files.h"
#include "cli/options/options.h"
#include "training/sweep/sweep_run.h"
#include "training/sweep/trial_result.h"

namespace hogbatch {

// UserError if the folder of --out holds a sweep, which the files of another run would mix with.
void RefuseSweep(const std::string& folder);

bool HoldsSweep(const std::string& folder);
// When its record was written, if it holds one.
std::optional<FileTime> SweepTime(const std::string& folder);

// The sweep of --resume. UserError if there is none, or it is damaged.
SweepRecord ReadSweep(const std::string& folder);
// Its options, with the few that may change as the user gave them now. UserError for another one
// that differs.
SweepCommandOptions ResumedOptions(const SweepCommandOptions& asked, const SweepRecord& record);
// UserError if its data has changed since it began.
void RefuseOtherRows(const std::string& folder, const SweepRecord& record, const std::string& rows);
// Its results so far. UserError if they are of another sweep, such as one with other rungs.
EarlierSweep ReadResults(const std::string& folder, const SweepRecord& record,
                         std::span<const Trial> trials, std::size_t rungs);

// The texts of the search, to keep them.
OptionTexts SearchTexts(SearchOptions search);

}  // namespace hogbatch
