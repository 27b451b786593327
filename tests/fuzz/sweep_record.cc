// sweep.json and, for one input in 16, the options that a resumed sweep takes from it, which take
// 20 times longer than reading.
#include <functional>

#include "cli/sweep/sweep_files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    const SweepRecord record = ParseSweep(TextOf(bytes, size), "in");
    const SweepRecord again = ParseSweep(SweepText(record), "again");
    Check(again.rows.size() == record.rows.size(), "the same rows again");
    if (std::hash<std::string_view>()(TextOf(bytes, size)) % 16 != 0) return;
    static const SweepCommandOptions unset;  // takes milliseconds to make
    SweepCommandOptions asked = unset;
    asked.resume = "in";
    ResumedOptions(asked, record);
  });
}
