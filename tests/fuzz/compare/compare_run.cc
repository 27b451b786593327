// What a run of a comparison leaves: metrics.jsonl, then summary.json, with a zero byte between
// them. Each part that is wrong is left out; nothing is refused.
#include <cmath>

#include "compare/runs/run_files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  using namespace hogbatch::compare;
  const std::string_view text = TextOf(bytes, size);
  const std::size_t end = std::min(text.find('\0'), text.size());
  const RunFiles files = ParseRunFiles(text.substr(0, end), text.substr(std::min(end + 1, size)),
                                       {.valid_rows = 1, .test_rows = size % 2 == 0 ? 1 : 0});
  Check(std::isfinite(files.examples_per_second), "a finite speed");
  Check(files.peak_bytes >= 0, "a number of bytes");
  for (const CurvePoint& point : files.curve) Check(std::isfinite(point.loss), "a finite loss");
  if (std::getenv("HOGBATCH_FUZZ_GOOD") != nullptr) {
    Check(files.has_summary && !files.curve.empty(), "a good seed is read");
  }
  return 0;
}
