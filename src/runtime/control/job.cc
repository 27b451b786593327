#include "runtime/control/job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

// How many parts of about `part` make `whole`.
std::int32_t Nearest(std::int64_t whole, std::int64_t part) {
  const double parts = static_cast<double>(whole) / static_cast<double>(part);
  return static_cast<std::int32_t>(std::max(1.0, std::round(parts)));
}

}  // namespace

std::optional<Task> Job::Cut(const Assignment& assignment, TaskId id, const Taker& taker) {
  // Of several updates to a merge, whole merges.
  const std::int64_t to_merge = std::clamp<std::int64_t>(
      std::min(taker.merge_rows / assignment.batch_size,
               rates_.UpdatesAtOnce(assignment.batch_size, taker.staleness)),
      1, taker.updates);
  const std::int64_t wanted = to_merge * Nearest(taker.updates, to_merge);
  const std::optional<Cursor::Cut> cut =
      cursor_.Next(assignment.batch_size * wanted, assignment.batch_size);
  if (!cut) return std::nullopt;
  in_flight_.emplace(id, *cut);
  // A short range is cut evenly rather than into full updates and a tail.
  const std::int64_t rows = cut->rows.size();
  const std::int32_t updates = assignment.hold ? 1 : Nearest(rows, assignment.batch_size);
  const std::int32_t merges = Nearest(updates, to_merge);
  // No update without a row.
  const auto updates_per_merge = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      Nearest(updates, merges), 1, std::max<std::int64_t>(1, rows / merges)));
  held_tasks_ += assignment.hold ? 1 : 0;
  return Task{
      .id = id,
      .job = spec_.id,
      .kind = TaskKind::kTrain,
      .split = Split::kTrain,
      .rows = cut->rows,
      .merges = merges,
      .updates_per_merge = updates_per_merge,
      .learning_rate = assignment.rate_scale *
                       rates_.At(epoch(), rows / merges / updates_per_merge, taker.staleness),
      .hold = assignment.hold,
      .round = round_};
}

void Job::Complete(const Task& task, const Report& report) {
  Check(in_flight_.erase(task.id) == 1, "a report for a task that is not in flight");
  examples_ += task.rows.size();
  loss_sum_ += report.loss_sum;
  rows_with_loss_ += task.rows.size();
  if (task.hold) {
    --held_tasks_;
    held_rows_ += task.rows.size();
  } else {
    updates_ += report.updates;
  }
}

RowRange Job::Done(const Task& task, const Remains& remains) {
  if (remains.merges_done == 0) return {task.rows.begin, task.rows.begin};
  return {task.rows.begin, Part(task.rows, remains.merges_done - 1, task.merges).end};
}

void Job::Return(const Task& task, const Remains& remains) {
  const auto found = in_flight_.find(task.id);
  Check(found != in_flight_.end(), "a lost task that was not in flight");
  const RowRange done = Done(task, remains);
  examples_ += done.size();
  updates_ += remains.merges_done * task.updates_per_merge;
  const auto give_back = [&](std::int64_t begin, std::int64_t end) {
    cursor_.Return({.rows = {begin, end}, .epoch = found->second.epoch});
  };
  if (remains.torn) {
    const RowRange lost = Part(task.rows, *remains.torn, task.merges);
    lost_rows_ += lost.size();
    give_back(done.end, lost.begin);
    give_back(lost.end, task.rows.end);
  } else {
    give_back(done.end, task.rows.end);
  }
  in_flight_.erase(found);
  held_tasks_ -= task.hold ? 1 : 0;
}

Task Job::ApplySlice(std::int32_t slice, std::int32_t slices) const {
  return {.job = spec_.id,
          .kind = TaskKind::kApply,
          .rows = {},
          .learning_rate = rates_.At(epoch(), held_rows_),
          .round = round_,
          .slice = slice,
          .slices = slices};
}

void Job::CompleteRound() {
  held_rows_ = 0;
  ++round_;
  ++updates_;
}

void Job::AbandonRound() {
  examples_ -= held_rows_;
  lost_rows_ += std::exchange(held_rows_, 0);
}

}  // namespace hogbatch
