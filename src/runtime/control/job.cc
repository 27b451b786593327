#include "runtime/control/job.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"

namespace hogbatch {
namespace {

// The number of parts of about `part` that make `whole`; at least one.
std::int32_t NearestCount(std::int64_t whole, std::int64_t part) {
  const double parts = static_cast<double>(whole) / static_cast<double>(part);
  return static_cast<std::int32_t>(std::max(1.0, std::round(parts)));
}

}  // namespace

RowRange UnfinishedTask::rows_done() const {
  if (merges_done == 0) return {task.rows.begin, task.rows.begin};
  return {task.rows.begin, Part(task.rows, merges_done - 1, task.merges).end};
}

std::int64_t Job::UpdatesPerMerge(const TaskSpec& spec) const {
  const std::int64_t batch_size = spec.assignment.batch_size;
  const std::int64_t wanted =
      std::min(spec.merge_rows / batch_size, rates_.UpdatesAtOnce(batch_size, spec.staleness));
  return spec_.exclusive() ? std::max<std::int64_t>(1, wanted)
                           : std::clamp<std::int64_t>(wanted, 1, spec.updates);
}

// Of an exclusive job: rows that are trained at one learning rate. It changes 64 times an epoch. In
// long runs it changes less often, since each change ends a task, but at least 256 times in all,
// and 4 times an epoch for schedules that warm up.
std::int64_t Job::RowsPerRate() const {
  const std::int64_t epochs = (handed_out() + cursor_.remaining()) / spec_.train_rows;
  std::int64_t parts = 1;
  while (parts < 16 && epochs >= 8 * parts) parts *= 2;
  return (spec_.train_rows / 64 + 1) * parts;
}

double Job::RateEpoch() const {
  const std::int64_t stretch = RowsPerRate();
  const std::int64_t begin = handed_out() / stretch * stretch;
  return static_cast<double>(begin) / static_cast<double>(spec_.train_rows);
}

// The block is cut into the same merges however many of them make a task.
std::optional<Cursor::EpochRows> Job::NextWholeMerges(const TaskSpec& spec,
                                                      std::int64_t merge_rows) {
  const std::int64_t in_block = cursor_.NextBlockRows();
  if (in_block == 0) return std::nullopt;
  if (2 * in_block < 3 * merge_rows) return cursor_.Next(in_block);  // the last merge of the block
  const std::int64_t stretch = RowsPerRate();
  const std::int64_t rows = std::min(spec.most_rows, stretch - handed_out() % stretch);
  const std::int64_t merges =
      std::min({(2 * in_block - merge_rows) / (2 * merge_rows), (rows - 1) / merge_rows + 1,
                std::int64_t{NearestCount(spec.assignment.batch_size * spec.updates, merge_rows)}});
  return cursor_.Next(merges * merge_rows);
}

std::optional<Task> Job::NextTask(TaskId id, const TaskSpec& spec) {
  const Assignment& assignment = spec.assignment;
  const std::int64_t batch_size = assignment.batch_size;
  const std::int64_t wanted_per_merge = UpdatesPerMerge(spec);
  const std::int64_t wanted_updates =
      wanted_per_merge * NearestCount(spec.updates, wanted_per_merge);

  const double rate_epoch = spec_.exclusive() ? RateEpoch() : epoch();
  const std::optional<Cursor::EpochRows> next =
      spec_.exclusive() ? NextWholeMerges(spec, batch_size * wanted_per_merge)
                        : cursor_.Next(batch_size * wanted_updates, batch_size);
  if (!next) return std::nullopt;
  in_flight_.emplace(id, *next);

  const std::int64_t rows = next->rows.size();
  const std::int32_t updates = spec_.synchronous ? 1 : NearestCount(rows, batch_size);
  const std::int32_t merges = NearestCount(updates, wanted_per_merge);
  // Every update has at least one row.
  const std::int64_t max_per_merge = std::max<std::int64_t>(1, rows / merges);
  const auto updates_per_merge = static_cast<std::int32_t>(
      std::min<std::int64_t>(NearestCount(updates, merges), max_per_merge));
  const std::int64_t rows_per_update = rows / merges / updates_per_merge;

  if (spec_.synchronous) round_.OnSent();
  return Task{.id = id,
              .job = spec_.id,
              .kind = TaskKind::kTrain,
              .split = Split::kTrain,
              .rows = next->rows,
              .merges = merges,
              .updates_per_merge = updates_per_merge,
              .learning_rate = RateAt(rate_epoch, rows_per_update, spec.staleness),
              .rate_epoch = rate_epoch,
              .hold = spec_.synchronous,
              .round = round_.number()};
}

void Job::Complete(const Task& task, const Report& report) {
  Check(in_flight_.erase(task.id) == 1, "a report for a task that is not in flight");
  examples_ += task.rows.size();
  if (std::isfinite(report.loss_sum)) {
    loss_sum_ += report.loss_sum;
    rows_with_loss_ += task.rows.size();
  }
  if (task.hold) {
    round_.OnGradient(task.rows.size());
  } else {
    updates_ += report.updates;
  }
}

void Job::Return(const UnfinishedTask& unfinished) {
  const Task& task = unfinished.task;
  const auto found = in_flight_.find(task.id);
  Check(found != in_flight_.end(), "a lost task that was not in flight");
  const RowRange done = unfinished.rows_done();
  examples_ += done.size();
  updates_ += unfinished.updates_done();
  const auto give_back = [&](std::int64_t begin, std::int64_t end) {
    cursor_.Return({.rows = {begin, end}, .epoch = found->second.epoch});
  };
  if (unfinished.torn_merge) {
    const RowRange lost = Part(task.rows, *unfinished.torn_merge, task.merges);
    lost_rows_ += lost.size();
    give_back(done.end, lost.begin);
    give_back(lost.end, task.rows.end);
  } else {
    give_back(done.end, task.rows.end);
  }
  in_flight_.erase(found);
  if (task.hold) round_.OnLost();
}

void Job::Lose(const Task& task) {
  Check(in_flight_.erase(task.id) == 1, "a lost task that was not in flight");
  lost_rows_ += task.rows.size();
  if (task.hold) round_.OnLost();
}

Job::Position Job::position() const {
  Position position{.cursor = cursor_, .examples = examples_};
  std::vector<TaskId> ids;
  for (const auto& [id, rows] : in_flight_) ids.push_back(id);
  std::ranges::sort(ids);  // the same order in every run
  for (const TaskId id : ids) position.cursor.Return(in_flight_.at(id));
  return position;
}

void Job::GoBackTo(const Position& earlier) {
  Check(in_flight_.empty(), "a training that goes back has no row in flight");
  cursor_ = earlier.cursor;
  examples_ = earlier.examples;
  round_.Drop();
  rate_factor_ /= 2;
}

float Job::RateAt(double epoch, std::int64_t rows, double staleness) const {
  return static_cast<float>(rate_factor_) * rates_.At(epoch, rows, staleness);
}

void Job::VisitState(StateVisitor& visitor) {
  Check(quiet(), "a checkpoint finds no row in flight");
  Visit(visitor, "cursor", cursor_);
  Visit(visitor, "round", round_);
  Visit(visitor, "examples", examples_);
  Visit(visitor, "updates", updates_);
  Visit(visitor, "lost_rows", lost_rows_);
  Visit(visitor, "rows_with_loss", rows_with_loss_);
  Visit(visitor, "loss_sum", loss_sum_);
  Visit(visitor, "rate_factor", rate_factor_);
  RequireState(examples_ >= 0 && updates_ >= 0 && lost_rows_ >= 0 && rows_with_loss_ >= 0,
               "counts of the job");
  RequireState(rate_factor_ > 0 && rate_factor_ <= 1, "rate_factor");
}

void Job::MakeSlices(std::span<const WorkerState> workers) {
  round_.MakeSlices({.job = spec_.id,
                     .kind = TaskKind::kApply,
                     .rows = {},
                     .learning_rate = RateAt(epoch(), round_.rows(), 0),
                     .round = round_.number()},
                    workers);
}

void Job::CompleteSlice() {
  if (round_.OnApplied()) ++updates_;
}

void Job::AbandonRound() {
  const std::int64_t rows = round_.Abandon();
  examples_ -= rows;
  lost_rows_ += rows;
}

}  // namespace hogbatch
