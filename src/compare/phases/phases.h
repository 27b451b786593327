// The four phases of a comparison. Each decides by what the ones before it recorded and by nothing
// else, so that a comparison that goes on later makes the same decisions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/phases/schedule.h"
#include "compare/phases/tuning.h"
#include "compare/runs/run_schedule.h"
#include "compare/spec.h"

namespace hogbatch::compare {

// Rows per second over batch sizes, as often as the plan says. Batch sizes for which there is
// no time are left out.
void MeasureThroughput(RunSchedule& schedule, const ComparePlan& plan);

// Tries a grid of settings for each side with one seed; then the neighbours of the best where it
// lies at the edge; then the best three for longer.
void Tune(RunSchedule& schedule, const ComparePlan& plan);

// From the best setting of each side to the target loss, once for each seed.
void Race(RunSchedule& schedule, const ComparePlan& plan);

// The best setting of each side for an equal time, once for each seed.
void DrawCurves(RunSchedule& schedule, const ComparePlan& plan);

}  // namespace hogbatch::compare
