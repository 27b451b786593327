// Evaluation beside training: one snapshot at a time is cut into parts that workers take between
// their training tasks, and the best snapshot is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "messaging/messages.h"
#include "runtime/control/progress.h"

namespace hogbatch {

// How many rows of each kind a job has.
struct SplitRows {
  std::int64_t train = 0;
  std::int64_t valid = 0;
  std::int64_t test = 0;
};

class EvaluationRounds {
 public:
  explicit EvaluationRounds(SplitRows rows) : rows_(rows) {}

  bool under_way() const { return under_way_; }

  // Opens a round; its first task copies the model.
  void Begin(double epoch);

  // The next task of the round, without id or worker; none while there is nothing to hand out.
  std::optional<Task> Next();

  // A task that failed is handed out again.
  void Return(const Task& task);

  // Takes in a finished task; the last one of a round returns what it found.
  std::optional<Evaluation> Finish(const Task& task, const Report& report);

  // From now on training rows are left out: the user is waiting for the end. False if that leaves
  // nothing of the round under way, which is dropped.
  bool SkipTrainingRows();
  // Drops the round under way: the model is no longer worth measuring.
  void Abandon();

  // The best evaluation so far, by validation loss, else the latest, and the snapshot that holds
  // it.
  const std::optional<Evaluation>& best() const { return best_; }
  SnapshotId best_snapshot() const { return best_snapshot_; }

 private:
  void AddParts(Split split, RowRange rows);
  std::optional<Evaluation> Conclude();

  SplitRows rows_;
  bool under_way_ = false;
  bool snapshot_wanted_ = false;
  bool skip_training_rows_ = false;
  std::vector<Task> waiting_;  // parts not handed out, the next one last
  int handed_out_ = 0;
  SnapshotId snapshot_ = 0;
  Evaluation current_;
  std::optional<Evaluation> best_;
  SnapshotId best_snapshot_ = 1;
};

// Training and validation losses are numbers. The test file decides nothing.
bool IsFinite(const Evaluation& evaluation);

// What stop rules and the choice of the best model go by: validation loss, else training loss, else
// none.
std::optional<double> DecidingLoss(const Evaluation& evaluation);

}  // namespace hogbatch
