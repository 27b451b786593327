// The page of one run, or of several over each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_record.h"

namespace hogbatch::report {

// What keeps the runs from being compared, such as different data; sentences.
std::vector<std::string> Differences(std::span<const RunRecord> runs);

// One HTML file. `notes` are sentences about runs that could not be read.
std::string RunPage(std::span<const RunRecord> runs, std::span<const std::string> notes = {});

}  // namespace hogbatch::report
