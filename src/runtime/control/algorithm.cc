#include "runtime/control/algorithm.h"

namespace hogbatch {

void WorkerState::VisitState(StateVisitor& visitor) {
  Visit(visitor, "updates", updates);
  Visit(visitor, "merges", merges);
  Visit(visitor, "rows", rows);
  Visit(visitor, "busy_seconds", busy_seconds);
  Visit(visitor, "training_seconds", training_seconds);
  Visit(visitor, "seconds_per_row", seconds_per_row);
  Visit(visitor, "batch_size", batch_size);
  Visit(visitor, "staleness", staleness);
  RequireState(updates >= 0 && merges >= 0 && rows >= 0 && batch_size >= 0, "counts of a worker");
  RequireState(busy_seconds >= 0 && training_seconds >= 0 && seconds_per_row >= 0 && staleness >= 0,
               "times of a worker");
}

void Algorithm::Observe(const Outcome&) {}

}  // namespace hogbatch
