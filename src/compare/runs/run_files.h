// What a run leaves behind: metrics.jsonl and summary.json, of hogbatch and of baselines alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/runs/run.h"

namespace hogbatch::compare {

struct RunFiles {
  bool has_summary = false;
  bool finite = true;  // the last loss
  std::string stopped_because = {};
  std::string metric = {};   // the name of the metric of the curve: "test_accuracy"; empty: none
  double seconds = 0;        // with evaluation
  double train_seconds = 0;  // without
  double examples_per_second = 0;
  double cpu_seconds = 0;  // as the run itself says; 0: it does not
  std::int64_t peak_bytes = 0;
  std::vector<CurvePoint> curve = {};
};

// Which splits there are.
struct SplitRows {
  std::int64_t valid_rows = 0;
  std::int64_t test_rows = 0;
};

// Files that are missing or broken leave their part at its default.
RunFiles ReadRunFiles(const std::string& folder, const SplitRows& rows);
RunFiles ParseRunFiles(std::string_view metrics, std::string_view summary, const SplitRows& rows);

}  // namespace hogbatch::compare
