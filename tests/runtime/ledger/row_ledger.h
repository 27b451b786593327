// The books of a run: which rows were trained, which were lost, and whether the run says the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/control/progress.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/worker.h"

namespace hogbatch {

// Kept by what workers do, not by what they and the coordinator tell each other.
class RowLedger {
 public:
  explicit RowLedger(std::int64_t train_rows) : trained_(train_rows), lost_(train_rows) {}

  // kAlone: no other worker changes the model while this worker is in a call, and it writes nothing
  // before Commit, so that what it says of a torn update can be held against the model.
  enum class Company : std::uint8_t { kAlone, kOthers };
  // The worker, whose every call is entered in the books. Both outlive it.
  std::unique_ptr<Worker> Watch(std::unique_ptr<Worker> worker, JobMemory& memory, Company company);

  // The totals are the sums of the books, and every row was trained or lost `epochs` times; at most
  // so often if the run ended for want of workers.
  void ExpectBalanced(const RunResult& result, int epochs) const;
  std::int64_t trained() const;
  std::int64_t lost() const;

 private:
  friend class WatchedWorker;

  // A synchronous step: its rows are trained when every slice of it is in the model.
  struct Step {
    std::vector<RowRange> rows;
    std::set<std::int32_t> slices;
  };
  void Train(RowRange rows);
  void Lose(RowRange rows);
  void Hold(const Task& task);
  void Apply(const Task& task, const JobMemory& memory);

  mutable std::mutex mutex_;
  std::vector<int> trained_;  // times, by row
  std::vector<int> lost_;
  std::map<std::int64_t, Step> steps_;  // not applied yet
};

}  // namespace hogbatch
