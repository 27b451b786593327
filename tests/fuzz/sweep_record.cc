// sweep.json, and the options that a resumed sweep takes from it.
#include "cli/sweep/sweep_files.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    const SweepRecord record = ParseSweep(TextOf(bytes, size), "in");
    const SweepRecord again = ParseSweep(SweepText(record), "again");
    Check(again.rows.size() == record.rows.size(), "the same rows again");
    SweepCommandOptions asked;
    asked.resume = "in";
    ResumedOptions(asked, record);
  });
}
