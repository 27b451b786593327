// The version of the record that a run leaves for other programs and for `hogbatch report`.
#pragma once

namespace hogbatch::report {

// `format` of summary.json and `options_format` of options.json. Incremented when a reader of the
// older format would be misled, not for new keys.
inline constexpr int kRecordFormat = 1;

}  // namespace hogbatch::report
