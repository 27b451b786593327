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

// Why an evaluated model is of no use: its loss is not finite, or more than kExplosion times
// `first_loss`, the first one that decided, and more than kExplosion. Empty: it is good.
std::string WhyDiverged(const Evaluation& evaluation, std::optional<double> first_loss);

// What is kept of the snapshots: the best one, or the best of each lane. Lanes are evaluated in
// snapshot 0 and kept in snapshot 1.
enum class Keeps : std::uint8_t { kBestSnapshot, kBestLanes };

class Evaluations {
 public:
  explicit Evaluations(SplitRows rows, Keeps keeps = Keeps::kBestSnapshot)
      : rows_(rows), keeps_(keeps) {}

  bool under_way() const { return under_way_; }

  // Begins an evaluation; its first task copies the model.
  void Begin(double epoch);

  // The next task, without id or worker; none while there is nothing to hand out.
  std::optional<Task> Next();

  // A task whose worker failed is handed out again.
  void Return(const Task& task);

  // Adds a finished task. The last task of an evaluation returns the result.
  std::optional<Evaluation> Finish(const Task& task, const Report& report);

  // After Finish returned a result, of Keeps::kBestLanes: these lanes are the best so far of
  // theirs. The evaluation ends when a worker has copied them.
  void KeepLanes(std::vector<std::int64_t> lanes);

  // From now on training rows are left out: the user is waiting for the end. Returns false if that
  // leaves nothing of the evaluation under way, which is then dropped.
  bool SkipTrainingRows();
  // Drops the evaluation under way: the model diverged or no worker is left. Before the next one
  // begins, all its tasks are back.
  void Abandon();

  std::string WhyDiverged(const Evaluation& evaluation) const {
    return hogbatch::WhyDiverged(evaluation, first_loss_);
  }

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

  // not state: rows_, keeps_, skip_training_rows_ (an interrupt ends the run), and all that an
  // evaluation under way needs: under_way_, snapshot_wanted_, waiting_, handed_out_, snapshot_,
  // current_
  SplitRows rows_;
  Keeps keeps_;
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

// The sums of a split.
std::optional<EvaluationSums>& SumsOf(Evaluation& evaluation, Split split);

// The loss that stop rules use: validation loss, or training loss without validation rows.
std::optional<double> DecidingLoss(const Evaluation& evaluation);

}  // namespace hogbatch
