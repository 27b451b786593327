// Options of a sweep, each of which may be a list or a distribution: lines of a name and a text.
#include "core/text.h"
#include "tests/fuzz/fuzz.h"
#include "training/sweep/trials.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    static const SweptOptions unset;  // takes milliseconds to make
    SweptOptions options = unset;
    for (const std::string& line : SplitLines(TextOf(bytes, size))) {
      const std::size_t end = std::min(line.find(' '), line.size());
      options.Set(line.substr(0, end), line.substr(std::min(end + 1, line.size())));
    }
    const SweepSpec spec = options.Spec({.trials = 2});
    std::size_t combinations = 1;
    for (const Variation& one : spec.varied) {
      combinations *= std::max<std::size_t>(1, one.values.size());
      if (combinations > 8) return;  // more trials, and nothing new
    }
    const std::vector<Trial> trials = MakeTrials(spec);
    Check(!trials.empty() && trials.front().values.size() == spec.varied.size(), "what varies");
    GroupTrials(trials);
  });
}
