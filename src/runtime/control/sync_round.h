// A round of synchronous training.
//
// Every worker makes the gradient of its own rows and holds it. When all gradients are there, each
// worker applies them to one slice of the weights: it averages the slice over all gradients and
// changes the model once. A round is therefore one update of the model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "messaging/messages.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

class SyncRound {
 public:
  explicit SyncRound(std::int64_t number = 0) : number_(number) {}

  std::int64_t number() const { return number_; }
  // Rows behind the gradients that are held.
  std::int64_t rows() const { return rows_; }
  // Gradients were asked for and are not applied yet.
  bool open() const { return awaited_ > 0 || rows_ > 0; }
  // All gradients are held, and no slice is made yet.
  bool gathered() const { return awaited_ == 0 && rows_ > 0 && open_slices_ == 0; }
  bool applying() const { return open_slices_ > 0; }

  // A task that holds its gradient was sent, came back, or was lost with its worker.
  void OnSent() { ++awaited_; }
  void OnGradient(std::int64_t rows);
  void OnLost() { --awaited_; }

  // Makes one kApply task for each live worker from `apply`, which lacks worker and slice.
  void MakeSlices(const Task& apply, std::span<const WorkerState> workers);
  // The slice that waits for `worker`, without an id.
  std::optional<Task> NextSlice(WorkerId worker);
  // A slice is in the model. True if it was the last one: the next round may begin.
  bool OnApplied();
  // A slice came back because its worker failed.
  void ReturnSlice(const Task& slice) { waiting_.push_back(slice); }
  // `successor` applies the slices of a worker that failed.
  void Reassign(WorkerId failed, WorkerId successor);

  // Between rounds.
  void VisitState(StateVisitor& visitor) { Visit(visitor, "number", number_); }

  // Drops the round: no task of it is in flight, and the model it was made from is given up.
  void Drop() { *this = SyncRound(number_ + 1); }
  // No worker is left to apply the round. Returns the rows that are lost with it.
  std::int64_t Abandon();

 private:
  std::int64_t number_;
  // not state: awaited_, rows_, open_slices_, waiting_ (nothing is under way between rounds)
  int awaited_ = 0;            // gradients asked for and not held yet
  std::int64_t rows_ = 0;      // behind the gradients that are held
  int open_slices_ = 0;        // made and not applied yet
  std::vector<Task> waiting_;  // slices that wait for Task::worker
};

}  // namespace hogbatch
