// trials.jsonl: the results of three trials, and what is shown and written of them.
#include "cli/sweep/sweep_report.h"
#include "tests/fuzz/fuzz.h"

namespace hogbatch {
namespace {

std::vector<Trial> ThreeTrials() {
  SweptOptions options;
  options.Set("lr", "0.1|0.01|0.001");
  return MakeTrials(options.Spec({}));
}

}  // namespace
}  // namespace hogbatch

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  constexpr std::size_t kRungs = 2;
  static const std::vector<Trial> trials = ThreeTrials();
  return ReadOrRefused([&] {
    const std::vector<TrialResult> results =
        ParseTrialsJsonl(TextOf(bytes, size), trials, kRungs, "in");
    const SweepResults sweep{.metric = "accuracy", .trials = trials, .results = results};
    TrialTable(sweep, trials.size());
    TrialsCsv(sweep);
    const std::vector<TrialResult> again =
        ParseTrialsJsonl(TrialsJsonl(sweep), trials, kRungs, "again");
    Check(Ranking(again) == Ranking(results), "the same order again");
  });
}
