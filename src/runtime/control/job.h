// A job under way: its rows, what has been handed out of them and what came back.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "datasets/cursor.h"
#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

class Job {
 public:
  Job(const JobSpec& spec, double epochs, const LearningRate& rates, std::uint64_t seed)
      : spec_(spec), rates_(rates), cursor_(spec.train_rows, epochs, seed) {}

  // For whom rows are cut.
  struct Taker {
    double staleness = 0;         // of its updates, as in LearningRate
    std::int64_t merge_rows = 1;  // behind a merge, if its updates are smaller
    std::int32_t updates = 1;     // that make a task
  };
  // Cuts the rows of an assignment; none when all rows are handed out.
  std::optional<Task> Cut(const Assignment& assignment, TaskId id, const Taker& taker);

  // A training task came back finished.
  void Complete(const Task& task, const Report& report);

  // How far a task came whose worker failed.
  struct Remains {
    std::int32_t merges_done = 0;
    std::optional<std::int32_t> torn;  // the merge, not among them, that is in the model in part
  };
  // The rows that were trained.
  static RowRange Done(const Task& task, const Remains& remains);
  // A training task was lost with its worker. Rows that were trained count, those of a merge torn
  // in the middle are lost, and the others will be handed out again.
  void Return(const Task& task, const Remains& remains);

  // Synchronous training: the gradients of a round are complete when all its tasks came back, and
  // the round is over when all its slices were applied.
  bool round_open() const { return held_tasks_ > 0 || held_rows_ > 0; }
  bool round_gathered() const { return held_tasks_ == 0 && held_rows_ > 0; }
  Task ApplySlice(std::int32_t slice, std::int32_t slices) const;
  void CompleteRound();
  // No worker is left to apply the round, of which a part may be in the model: its rows are lost.
  void AbandonRound();

  const LearningRate& rates() const { return rates_; }
  JobState state() const { return {spec_.id, spec_.train_rows, cursor_.remaining()}; }
  std::int64_t examples() const { return examples_; }
  std::int64_t updates() const { return updates_; }
  std::int64_t lost_rows() const { return lost_rows_; }
  double epoch() const {
    return static_cast<double>(examples_) / static_cast<double>(spec_.train_rows);
  }
  // Of rows whose task came back, and how many they are.
  double loss_sum() const { return loss_sum_; }
  std::int64_t rows_with_loss() const { return rows_with_loss_; }
  // All rows were handed out and came back, and no round is open.
  bool finished() const { return cursor_.remaining() == 0 && quiet(); }
  // Nothing that changes the model is under way.
  bool quiet() const { return in_flight_.empty() && held_rows_ == 0; }

 private:
  JobSpec spec_;
  LearningRate rates_;
  Cursor cursor_;
  std::unordered_map<TaskId, Cursor::Cut> in_flight_;
  std::int64_t examples_ = 0;
  std::int64_t updates_ = 0;
  std::int64_t lost_rows_ = 0;
  std::int64_t rows_with_loss_ = 0;
  double loss_sum_ = 0;
  std::int64_t round_ = 0;
  int held_tasks_ = 0;          // of this round, not back yet
  std::int64_t held_rows_ = 0;  // behind the gradients of this round
};

}  // namespace hogbatch
