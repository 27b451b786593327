// compare.json, and, for one input in 32, what is shown and written of its runs.
#include <functional>

#include "compare/comparison.h"
#include "compare/page/page.h"
#include "compare/runs/record_json.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  using namespace hogbatch::compare;
  static const OptionTexts identity = {{"--seeds", "2"}};
  return ReadOrRefused([&] {
    const RunLog log = ParseRuns(TextOf(bytes, size), "in", identity);
    for (const RunRecord& run : log.records()) {
      Check(JsonOf(RecordFrom(JsonOf(run))) == JsonOf(run), "the same run again");
    }
    if (std::hash<std::string_view>()(TextOf(bytes, size)) % 32 != 0) return;
    Comparison comparison{.identity = identity, .sides = OwnSides(Gpus::kSome), .log = log};
    comparison.findings = FindingsOf(log, {.sides = comparison.sides, .batches = {16, 64}});
    Check(!ComparePage(comparison).empty(), "a page is made");
    const RunLog again = ParseRuns(CompareJson(comparison), "again", identity);
    Check(again.records().size() == log.records().size(), "the same runs again");
  });
}
