// Chooses from what was tried: settings worth a longer try, the loss to reach, and the setting of
// each side. All of it follows from the runs alone, by the same rule for every side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/phases/schedule.h"
#include "compare/runs/run_log.h"
#include "compare/runs/side.h"

namespace hogbatch::compare {

// The settings with the lowest losses, best first, each once. Runs that did not end well are last
// and never among them.
std::vector<GridCell> Survivors(const std::vector<const RunRecord*>& runs, std::size_t count);

struct Target {
  double loss = 0;
  std::string how;  // it was chosen, as a sentence
};
// `wanted` > 0 is taken as it is. Else the lowest loss that the slowest side reached, plus a few
// percent, because other initial weights may need longer. A side that came less than three quarters
// of the way of the median side is left out of this. None if no side learnt.
std::optional<Target> ChooseTarget(const RunLog& log, const std::vector<Side>& sides,
                                   double wanted);

struct BestSetting {
  std::string side;
  std::string variant;
  GridCell cell;
  std::optional<double> seconds;  // to the target; none: it was not reached
  double loss = 0;                // the lowest
  std::int64_t tried = 0;         // settings
  double tuning_seconds = 0;      // of training, over all runs
  bool at_edge = false;           // a wider grid might have served this side better
};
// The setting that reached the target first; if none did, the one with the lowest loss. None where
// the side never trained.
std::optional<BestSetting> ChooseSetting(const RunLog& log, const Side& side, double target);

}  // namespace hogbatch::compare
