// Runs one comparison: finds the sides, measures, tunes, races, and keeps the record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/findings/findings.h"
#include "compare/runs/machine.h"
#include "compare/runs/option_texts.h"
#include "compare/runs/run_log.h"
#include "compare/runs/run_schedule.h"
#include "compare/runs/runner.h"
#include "compare/spec.h"

namespace hogbatch::compare {

// What the page and compare.json show.
struct Comparison {
  ComparePlan plan;
  OptionTexts identity;  // what it must have in common with one that goes on
  std::string command;   // the one that made it, as one would type it
  Setting setting;
  MachineFacts machine;
  std::vector<Side> sides;
  std::vector<Absent> absent;
  RunLog log;
  Findings findings;
  bool complete = false;
};

// Goes on with what the folder of the results holds. Keeps compare.json up to date. A comparison
// that was interrupted comes back incomplete. UserError for wrong options or files, or a folder of
// another comparison.
Comparison Compare(const CompareSpec& spec, CompareObserver& observer,
                   const Interrupted& interrupted);

// The content of compare.json.
std::string CompareJson(const Comparison& comparison);

}  // namespace hogbatch::compare
