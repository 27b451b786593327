// What a run tells the outside: reports on the way and the result at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "core/indexed_vector.h"
#include "core/staleness.h"
#include "runtime/control/algorithm.h"

namespace hogbatch {

enum class StopReason : std::uint8_t {
  kNone,    // still running
  kEpochs,  // all epochs are trained
  kMaxTime,
  kTargetLoss,
  kPatience,
  kPaused,  // to go on later, if it is worth it
  kInterrupted,
  kDiverged,   // the loss became NaN or infinite, or rose too far, at every learning rate tried
  kNoWorkers,  // the last worker failed
};
std::string_view Name(StopReason reason);  // "epochs", "max_time", … as in summary.json

// Exact losses and metrics of one snapshot; a split without rows is absent.
struct Evaluation {
  double epoch = 0;  // when the snapshot was taken
  std::optional<EvaluationSums> train;
  std::optional<EvaluationSums> valid;
  std::optional<EvaluationSums> test;

  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "epoch", epoch);
    Visit(visitor, "train", train);
    Visit(visitor, "valid", valid);
    Visit(visitor, "test", test);
  }
};

struct WorkerTotals {
  std::string name;
  std::int64_t updates = 0;
  std::int64_t batch_size = 0;  // of its latest update
  double busy_fraction = 0;     // of the time since training began
  std::string failure;          // empty: none
};

struct TeamProgress {
  std::string name;
  DeviceKind kind = DeviceKind::kCpu;
  std::int64_t updates = 0;
  double update_share = 0;  // of all updates so far
  std::int64_t batch_size = 0;
  double rows_per_second = 0;
};

// One report. Speeds are over the time since the last report. A report with an evaluation shows the
// run as it was when the snapshot was taken, so that losses, time, epoch and updates belong
// together.
struct Progress {
  JobId job = 0;
  std::int64_t lane = 0;     // of the evaluation, in a job with lanes
  double seconds = 0;        // since training began
  double train_seconds = 0;  // without the time that workers spent on evaluation
  double epoch = 0;
  std::int64_t examples = 0;
  std::int64_t updates = 0;
  double examples_per_second = 0;
  double updates_per_second = 0;
  std::optional<double> running_loss;    // mean over the rows trained since the last report
  std::optional<double> seconds_left;    // to the last epoch or --max-time; absent while unknown
  std::optional<Evaluation> evaluation;  // just finished
  bool best = false;                     // the evaluation is the best so far
  std::vector<WorkerTotals> workers;
  IndexedVector<TeamId, TeamProgress> teams;
  std::vector<BoundTeam> bound_teams;
  StalenessHistogram staleness;  // since training began
  std::optional<double> beta;    // the surviving share of updates, as last measured
  std::int64_t lost_rows = 0;    // of merges that failed after they changed part of the model
};

// How a lane of a job ended.
struct LaneResult {
  StopReason stopped_because = StopReason::kNone;
  double epoch = 0;                 // how far it trained
  std::optional<Evaluation> saved;  // its best, if there is one
};

struct RunResult {
  Progress totals;
  StopReason stopped_because = StopReason::kNone;
  std::optional<Evaluation> saved;  // of the best snapshot, if there is one
  double rate_factor = 1;  // of the learning rate in the end: it is halved when training diverges
  std::vector<LaneResult> lanes = {};
};

// Called on the coordinator's thread; must not take long.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Called repeatedly while the run waits for a worker to get ready; `seconds`: waited so far.
  virtual void OnPreparation(std::string_view /*worker*/, double /*seconds*/) {}
  virtual void OnProgress(const Progress& progress) = 0;
  virtual void OnWorkerFailed(std::string_view worker, std::string_view what) = 0;
  // The training goes on, but not exactly as the user asked.
  virtual void OnWarning(std::string_view /*sentence*/) {}
  // In a run of several jobs. OnJobBegan: the job got its first worker. OnJobEnded: nothing of it
  // is in flight any more, and its result stands.
  virtual void OnJobBegan(JobId /*job*/) {}
  virtual void OnJobWarning(JobId /*job*/, std::string_view sentence) { OnWarning(sentence); }
  virtual void OnJobEnded(JobId /*job*/) {}
};

}  // namespace hogbatch
