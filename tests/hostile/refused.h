// What every hostile file must get: a sentence for the user, soon and in little memory.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/process.h"

namespace hogbatch {

// Well above what the program takes for a small file, also under a sanitizer, and below what any of
// these files could make it take before it knew limits.
inline void ExpectSmall(const Finished& finished) {
  EXPECT_EQ(finished.signal, 0);
  EXPECT_LT(finished.peak_megabytes, 900);
}

// Exit code 2 and one sentence on standard error.
inline void ExpectRefused(const Finished& finished, const std::string& gist) {
  ExpectSmall(finished);
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  EXPECT_THAT(finished.err, testing::HasSubstr(gist));
  EXPECT_TRUE(finished.err.starts_with("hogbatch: ")) << finished.err;
  EXPECT_EQ(finished.err.find('\n'), finished.err.size() - 1) << finished.err;
  EXPECT_LT(finished.err.size(), 5000u) << "short enough to read";
  EXPECT_EQ(finished.err.find('\x1b'), std::string::npos) << "nothing for a terminal to obey";
  EXPECT_EQ(finished.err.find("json.exception"), std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find("internal error"), std::string::npos) << finished.err;
}

// The JSON object `json` with so many more keys that a reader which compares each with all others
// would take hours.
inline std::string WithAMillionKeys(const std::string& json) {
  std::string text = "{";
  for (int i = 0; i < 1000000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  return text + json.substr(1);
}

}  // namespace hogbatch
