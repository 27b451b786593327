// The record that a run leaves for other programs and for `hogbatch report`: its files and its
// version.
#pragma once

namespace hogbatch::report {

inline constexpr char kMetricsFile[] = "metrics.jsonl";
inline constexpr char kSummaryFile[] = "summary.json";
inline constexpr char kOptionsFile[] = "options.json";

// `format` of summary.json and `options_format` of options.json. Incremented when a reader of the
// older format would be misled, not for new keys.
inline constexpr int kRecordFormat = 1;

}  // namespace hogbatch::report
