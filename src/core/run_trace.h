// What each worker did when: recorded while a run goes on, to be written when it is over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/indexed_vector.h"

namespace hogbatch {

enum class Activity : std::uint8_t {
  kTraining,
  kApplying,    // a slice of a synchronous round's gradients
  kSnapshot,    // copying the model
  kEvaluation,  // losses and metrics of a snapshot
};

// One task of a worker, in seconds of SteadySeconds.
struct TaskSpan {
  double begin = 0;
  double end = 0;
  std::int64_t rows = 0;
  std::int32_t updates = 0;
  std::int32_t merges = 0;
  Activity activity = Activity::kTraining;
};

// The tasks of one worker. Its thread alone adds to it; others read when the run is over.
class WorkerTrace {
 public:
  explicit WorkerTrace(std::size_t capacity) : capacity_(capacity) { spans_.reserve(capacity); }

  void Add(const TaskSpan& span) {
    if (spans_.size() < capacity_) {
      spans_.push_back(span);
    } else {
      ++left_out_;
    }
  }

  const std::vector<TaskSpan>& spans() const { return spans_; }  // in order of time
  // Tasks that came when the memory for them was full.
  std::int64_t left_out() const { return left_out_; }

 private:
  std::size_t capacity_;
  std::vector<TaskSpan> spans_;
  std::int64_t left_out_ = 0;
};

class RunTrace {
 public:
  // At most `tasks` tasks of all workers together: 40 MB by default, of which only what is used
  // becomes resident.
  explicit RunTrace(std::size_t workers, std::size_t tasks = 1 << 20) {
    const std::size_t each = tasks / std::max<std::size_t>(workers, 1);
    for (std::size_t i = 0; i < workers; ++i) workers_.push_back(WorkerTrace(each));
  }

  void Begin(double now) { began_ = now; }
  double began() const { return began_; }  // when training began

  WorkerTrace& of(WorkerId worker) { return workers_[worker]; }
  const IndexedVector<WorkerId, WorkerTrace>& workers() const { return workers_; }

 private:
  double began_ = 0;
  IndexedVector<WorkerId, WorkerTrace> workers_;
};

}  // namespace hogbatch
