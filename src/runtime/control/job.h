// A job under way: which of its rows are handed out, and what came back.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include "datasets/cursor.h"
#include "messaging/messages.h"
#include "nn/learning_rate.h"
#include "runtime/control/algorithm.h"
#include "runtime/control/sync_round.h"

namespace hogbatch {

// A training task whose worker failed.
struct UnfinishedTask {
  Task task;
  std::int32_t merges_done = 0;
  std::optional<std::int32_t> torn_merge;  // the merge that is in the model in part

  std::int32_t updates_done() const { return merges_done * task.updates_per_merge; }
  RowRange rows_done() const;
};

class Job {
 public:
  Job(const JobSpec& spec, double epochs, const LearningRate& rates, std::uint64_t seed)
      : spec_(spec), rates_(rates), cursor_(spec.train_rows, epochs, seed) {}

  // What the coordinator wants of a task.
  struct TaskSpec {
    Assignment assignment;
    std::int32_t updates = 1;     // of assignment.batch_size rows each
    std::int64_t merge_rows = 1;  // smaller updates are merged together, up to this many rows
    double staleness = 0;         // of the worker's updates, as in LearningRate
    // Of an exclusive job: no merge begins after this many rows.
    std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();
  };
  // Makes a training task; none when all rows are handed out.
  //
  // How an assignment becomes a task:
  // 1. A replica merges several small updates together: as many as `merge_rows` allows, and as the
  //    learning rate allows for stale updates.
  // 2. The task asks the cursor for rows for whole merges, as many as come nearest to `updates`.
  // 3. The cursor gives fewer rows where a block of rows ends. The rows are split evenly into
  //    merges, and these into updates of about `batch_size` rows. There is no short tail.
  // 4. The learning rate is that of an update of this real size.
  //
  // The length of a task depends on timing, and nothing of an exclusive job may. So an exclusive
  // job takes its rows in merges of a fixed size. Only the last merge of a block is larger or
  // smaller, by at most half. The learning rate follows the rows handed out, and changes up to 64
  // times an epoch.
  std::optional<Task> NextTask(TaskId id, const TaskSpec& spec);

  // A training task was finished.
  void Complete(const Task& task, const Report& report);
  // A training task was lost with its worker. The rows of finished merges count as trained, those
  // of a torn merge are lost, and all others are handed out again.
  void Return(const UnfinishedTask& unfinished);

  // A training task of a worker that does not answer: whether its rows will be in the model is not
  // known, so they are not trained again.
  void Lose(const Task& task);

  // Synchronous training. MakeSlices when the round is gathered; CompleteSlice for each kApply task
  // that is finished; AbandonRound when no worker is left, since part of it may be in the model.
  const SyncRound& round() const { return round_; }
  SyncRound& round() { return round_; }
  void MakeSlices(std::span<const WorkerState> workers);
  void CompleteSlice();
  void AbandonRound();

  const LearningRate& rates() const { return rates_; }
  const JobSpec& spec() const { return spec_; }
  JobState state() const {
    return {.id = spec_.id, .train_rows = spec_.train_rows, .remaining_rows = cursor_.remaining()};
  }
  std::int64_t handed_out() const { return cursor_.handed_out(); }  // rows, lost ones among them
  std::int64_t examples() const { return examples_; }
  std::int64_t updates() const { return updates_; }
  std::int64_t lost_rows() const { return lost_rows_; }
  double epoch() const {
    return static_cast<double>(examples_) / static_cast<double>(spec_.train_rows);
  }
  // Sum of the training loss over all rows of finished tasks, and the number of these rows. A task
  // whose loss is not finite is left out.
  double loss_sum() const { return loss_sum_; }
  std::int64_t rows_with_loss() const { return rows_with_loss_; }
  // All rows are trained.
  bool finished() const { return cursor_.remaining() == 0 && quiet(); }
  // Nothing that changes the model is in flight.
  bool quiet() const { return in_flight_.empty() && round_.rows() == 0; }

  // Where the training stands: what was trained, and which rows are still to come.
  struct Position {
    Cursor cursor;
    std::int64_t examples = 0;

    void VisitState(StateVisitor& visitor) {
      Visit(visitor, "cursor", cursor);
      Visit(visitor, "examples", examples);
    }
  };
  // Rows in flight are still to come.
  Position position() const;
  // Goes on from an earlier position at half the learning rate. Nothing is in flight.
  void GoBackTo(const Position& earlier);
  double rate_factor() const { return rate_factor_; }  // of the learning rate

  // While it is quiet.
  void VisitState(StateVisitor& visitor);

 private:
  float RateAt(double epoch, std::int64_t rows, double staleness) const;
  std::int64_t UpdatesPerMerge(const TaskSpec& spec) const;
  std::optional<Cursor::EpochRows> NextWholeMerges(const TaskSpec& spec, std::int64_t merge_rows);
  std::int64_t RowsPerRate() const;
  double RateEpoch() const;

  // not state: spec_, rates_, in_flight_ (it is quiet)
  JobSpec spec_;
  LearningRate rates_;
  Cursor cursor_;
  std::unordered_map<TaskId, Cursor::EpochRows> in_flight_;
  SyncRound round_;
  std::int64_t examples_ = 0;
  std::int64_t updates_ = 0;
  std::int64_t lost_rows_ = 0;
  std::int64_t rows_with_loss_ = 0;
  double loss_sum_ = 0;
  double rate_factor_ = 1;
};

}  // namespace hogbatch
