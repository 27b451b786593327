// An algorithm answers one question: how many rows does this idle device train on in its next
// update?
//
// It assigns batch sizes and observes results. It sees values only: no device, mailbox, thread or
// clock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.h"
#include "core/state_visitor.h"
#include "device/device_info.h"
#include "nn/model_spec.h"

namespace hogbatch {

struct JobSpec {
  JobId id = 0;
  ModelSpec model;
  std::int64_t train_rows = 0;
  // Workers that train it at the same time; 0: any number. 1: the job is exclusive. It is then
  // exact sequential SGD, whose result depends neither on timing nor on other jobs.
  int most_workers = 0;
  std::optional<DeviceKind> kind = {};  // of the devices that may train it; none: all
  bool synchronous = false;             // trains in rounds of all workers
  int priority = 0;                     // among equals the higher one goes first
  double arrives = 0;                   // seconds after the run began

  bool exclusive() const { return most_workers == 1; }
};

// A worker as an algorithm sees it.
struct WorkerState {
  WorkerId id = 0;
  DeviceInfo device;
  TeamId team = 0;  // all CPU threads are one, every other device is one
  bool live = true;
  int outstanding = 0;  // tasks in flight
  int evaluations = 0;  // evaluation tasks among them
  std::int64_t updates = 0;
  std::int64_t merges = 0;  // fewer than updates where a replica merges several at once
  std::int64_t rows = 0;    // trained on
  double busy_seconds = 0;
  double training_seconds = 0;      // part of busy_seconds
  double seconds_per_row = 0;       // in training, smoothed over its latest tasks; 0: not measured
  std::int64_t max_batch_size = 0;  // that fits its memory; 0: no limit known
  std::int64_t batch_size = 0;      // of its latest update
  double staleness = 0;             // mean over the merges of its latest task

  // What a worker has done and how fast it was. Who it is comes from the plan of the run; a worker
  // that failed gets another chance, and so does a batch that did not fit its memory.
  // not state: id, device, team, live, outstanding, evaluations, max_batch_size
  void VisitState(StateVisitor& visitor);
};

struct JobState {
  JobId id = 0;
  std::int64_t train_rows = 0;      // per epoch
  std::int64_t remaining_rows = 0;  // not handed out yet, over all epochs

  // What schedulers ask for. Times are in seconds.
  int workers = 0;              // that have tasks of it
  int priority = 0;             // among equals the higher one goes first
  double arrived = 0;           // since the run began
  double attained_seconds = 0;  // that workers have spent on it, one after the other
  double epoch = 0;             // trained
  double seconds_per_row = 0;   // of one worker in training, the mean so far; 0: not measured
};

struct JobTable {
  std::span<const JobState> jobs;
  std::span<const WorkerState> workers;  // index = id
};

struct Assignment {
  JobId job = 0;
  std::int64_t batch_size = 1;  // rows per update
};

// A finished training task.
struct Outcome {
  WorkerId worker = 0;
  JobId job = 0;
  std::int64_t rows = 0;
  std::int32_t updates = 0;
  double seconds = 0;
};

// A team whose batch size is kept at a bound, although the algorithm wants another.
struct BoundTeam {
  enum class By : std::uint8_t { kMin, kMax, kMemory };
  TeamId team = 0;
  By by = By::kMin;
  std::int64_t batch_size = 0;  // where it is held
  double share_of_reviews = 0;  // of the times the algorithm judged its size: this bound held it
  double count_share = 0;       // of all updates, as the algorithm counts them
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // Chooses work for an idle worker; nullopt leaves it idle until the next event. Within one event
  // workers are asked in order of their ids.
  virtual std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) = 0;
  // Learns from a finished task.
  virtual void Observe(const Outcome& outcome);
  // All that decides what is assigned next. Visited while no task is in flight. When it is restored
  // the workers are the same ones.
  virtual void VisitState(StateVisitor& /*visitor*/) {}
  // The teams held by a bound in the course of the run, for reports.
  virtual std::vector<BoundTeam> bound_teams() const { return {}; }
};

}  // namespace hogbatch
