// The folder of a run as values. A run that is under way or was killed has no summary yet.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/html.h"

namespace hogbatch::report {

// "cpu.2" before "cpu.10".
struct NaturalOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};
using Numbers = std::map<std::string, double, NaturalOrder>;

// One line of metrics.jsonl. A number that it does not have is NaN.
struct MetricsRow {
  double seconds = 0;
  double train_seconds = 0;
  double epoch = 0;
  double examples = 0;
  double running_loss = 0;
  Numbers measured;    // "valid_loss": only where an evaluation ended
  Numbers batch_size;  // by worker
  Numbers busy;        // fraction since training began, by worker
};

// How a run ended, or where it stands.
struct Totals {
  double seconds = 0;  // NaN: not known, as for all numbers here
  double train_seconds = 0;
  double epoch = 0;
  double examples = 0;
  double updates = 0;
  double examples_per_second = 0;
  double best_epoch = 0;
  double beta = 0;
  std::string stopped_because;  // empty: it has no summary
  Numbers measured;             // of the saved model; without summary, the latest
  Numbers updates_by_worker;
  Numbers share_by_team;  // of updates
  Numbers merges_by_staleness;
  Numbers busy;
  std::map<std::string, std::string> failures;  // by worker
};

struct RunRecord {
  std::string name;
  std::string folder;
  std::vector<MetricsRow> metrics;  // in order of time; thinned out if there are very many
  Totals totals;
  Facts options;  // as options.json has them
  Facts machine;
  Facts data;
  Facts network;
  std::vector<std::string> problems;  // sentences: what is missing or damaged
};

// Throws UserError if there is no folder of a run: not there, not a folder, no record in it.
// Anything less is a sentence in `problems`.
RunRecord ReadRun(std::string_view name, const std::string& folder);

// What stands at `key`; NaN: nothing.
double ValueOf(const Numbers& numbers, const std::string& key);

// The rows for rates between one and the next: none that follows another so soon that its rate
// would be noise.
std::vector<const MetricsRow*> Reports(const RunRecord& run);

}  // namespace hogbatch::report
