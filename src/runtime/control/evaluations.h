// Evaluation beside training. One task copies the model into a snapshot; the others measure parts
// of the rows on it, between training tasks. The best snapshot is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messaging/messages.h"
#include "runtime/control/progress.h"

namespace hogbatch {

// The numbers of rows of a job.
struct SplitRows {
  std::int64_t train = 0;
  std::int64_t valid = 0;
  std::int64_t test = 0;
  std::optional<std::int64_t> evaluated_train = {};  // only the first of the training rows
};

// A model is given up when its loss exceeds the first one by this factor.
inline constexpr double kExplosion = 20;

class Evaluations {
 public:
  explicit Evaluations(SplitRows rows) : rows_(rows) {}

  bool under_way() const { return under_way_; }

  // Begins an evaluation; its first task copies the model.
  void Begin(double epoch);

  // The next task, without id or worker; none while there is nothing to hand out.
  std::optional<Task> Next();

  // A task whose worker failed is handed out again.
  void Return(const Task& task);

  // Adds a finished task. The last task of an evaluation returns the result.
  std::optional<Evaluation> Finish(const Task& task, const Report& report);

  // From now on training rows are left out: the user is waiting for the end. Returns false if that
  // leaves nothing of the evaluation under way, which is then dropped.
  bool SkipTrainingRows();
  // Drops the evaluation under way: the model diverged or no worker is left. Before the next one
  // begins, all its tasks are back.
  void Abandon();

  // Why the evaluated model is of no use: its loss is not finite, or more than kExplosion times the
  // first one and more than kExplosion. Empty: it is good.
  std::string WhyDiverged(const Evaluation& evaluation) const;

  // The best evaluation so far by validation loss, or the latest without validation rows, and its
  // snapshot. Before the first one that snapshot holds the initial model.
  const std::optional<Evaluation>& best() const { return best_; }
  SnapshotId best_snapshot() const { return best_snapshot_; }

  // While none is under way.
  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "best", best_);
    Visit(visitor, "best_snapshot", best_snapshot_);
    Visit(visitor, "first_loss", first_loss_);
    RequireState(best_snapshot_ == SnapshotId(0) || best_snapshot_ == SnapshotId(1),
                 "best_snapshot");
  }

 private:
  void AddParts(Split split, RowRange rows);
  std::optional<Evaluation> Conclude();

  // not state: rows_, skip_training_rows_ (an interrupt ends the run), and all that an evaluation
  // under way needs: under_way_, snapshot_wanted_, waiting_, handed_out_, snapshot_, current_
  SplitRows rows_;
  bool under_way_ = false;
  bool snapshot_wanted_ = false;
  bool skip_training_rows_ = false;
  std::vector<Task> waiting_;  // not handed out yet, the next one last
  int handed_out_ = 0;
  SnapshotId snapshot_ = 0;
  Evaluation current_;
  std::optional<Evaluation> best_;
  SnapshotId best_snapshot_ = 1;
  std::optional<double> first_loss_;  // that decides
};

// The loss that stop rules use: validation loss, or training loss without validation rows.
std::optional<double> DecidingLoss(const Evaluation& evaluation);

}  // namespace hogbatch
