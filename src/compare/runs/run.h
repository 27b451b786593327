// One training of one side: what is asked of it, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hogbatch::compare {

enum class Phase : std::uint8_t { kThroughput, kTuning, kRace, kCurve };
std::string_view Name(Phase phase);       // "throughput", … as in compare.json
Phase ParsePhase(std::string_view name);  // throws UserError

struct RunPlan {
  Phase phase = Phase::kThroughput;
  std::string side;
  std::string variant;
  std::int64_t batch = 0;      // rows per update
  double lr = 0;               // of an update, whatever its rows
  std::int64_t seed = 1;       // of the initial weights
  std::int64_t repeat = 0;     // runs of one repeat follow each other closely
  double seconds = 0;          // of training; what comes later does not count
  double epochs = 0;           // at most
  double eval_every = 0;       // epochs; 0: only at the end
  double extra_seconds = 0;    // for evaluation, where a side's time limit includes it
  std::optional<double> stop;  // ends at this loss

  // Evaluations up to here count. A side looks at its clock between batches only, so its last
  // evaluation comes a little late.
  double counted_seconds() const { return 1.05 * seconds; }

  // Tells runs apart, and is a legal name of a folder.
  std::string key() const;
};

enum class Outcome : std::uint8_t {
  kDone,
  kDiverged,    // the loss is no longer finite
  kImpossible,  // this side cannot train on this data
  kFailed,
  kTimedOut,
};
std::string_view Name(Outcome outcome);
Outcome ParseOutcome(std::string_view name);  // throws UserError

// One evaluation.
struct CurvePoint {
  double seconds = 0;  // of training, without evaluation
  double epoch = 0;
  double loss = 0;               // on validation rows; on training rows if there are none
  std::optional<double> metric;  // on test rows; on validation rows without a test file
};

struct RunRecord {
  RunPlan plan;
  Outcome outcome = Outcome::kDone;
  std::string message;  // the last lines of standard error, unless it is done
  double wall_seconds = 0;
  double cpu_seconds = 0;       // of all its processes, start-up and evaluation included
  double others_cpu = 0;        // share of the machine that other processes took meanwhile
  std::int64_t peak_bytes = 0;  // resident memory
  double seconds = 0;           // from the first update to the end
  double train_seconds = 0;     // without evaluation
  double examples_per_second = 0;
  std::string metric = {};             // of the curve: "test_accuracy"; empty: none
  std::vector<CurvePoint> curve = {};  // by time
  std::string command = {};            // as one would type it

  bool done() const { return outcome == Outcome::kDone; }
};

// When the loss first fell to `target`, linear between two evaluations. Only evaluations up to
// `within` seconds count.
std::optional<double> SecondsTo(const std::vector<CurvePoint>& curve, double target, double within);

// The lowest loss of the evaluations up to `within` seconds.
std::optional<CurvePoint> BestPoint(const std::vector<CurvePoint>& curve, double within);

}  // namespace hogbatch::compare
