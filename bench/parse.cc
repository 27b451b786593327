// How fast LIBSVM text is parsed, beside two limits of the machine: copying the text, and finding
// its line ends.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "datasets/readers/libsvm_reader.h"
#include "datasets/readers/parsed_file.h"

namespace {

using hogbatch::ParsedRows;
using hogbatch::ParseSettings;

constexpr std::size_t kTextBytes = std::size_t{64} << 20;

// Rows like those of tf-idf features (six digits) or of sets (all ones).
std::string MakeText(std::string_view value_kind) {
  hogbatch::Random random(1);
  std::string text;
  text.reserve(kTextBytes + 4096);
  while (text.size() < kTextBytes) {
    text += random.Below(2) == 0 ? "-1" : "+1";
    std::int64_t index = 0;
    for (int i = 0; i < 100; ++i) {
      index += 1 + random.Below(400);
      if (value_kind == "ones") {
        fmt::format_to(std::back_inserter(text), " {}:1", index);
      } else {
        fmt::format_to(std::back_inserter(text), " {}:{:.6g}", index, 0.3 * random.Uniform());
      }
    }
    text += '\n';
  }
  return text;
}

void CountBytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void Parse(benchmark::State& state, const std::string& text, int threads) {
  for (auto _ : state) {
    const auto source = hogbatch::OpenBytes(text, "text", text.size());
    const auto file = hogbatch::ParseInChunks(
        *source, 0, "text", {.threads = threads}, [](std::string_view chunk, ParsedRows& out) {
          hogbatch::ParseLibsvm(chunk, hogbatch::kLargestIndex, hogbatch::Labels::kRequired, out);
        });
    benchmark::DoNotOptimize(file.rows());
  }
  CountBytes(state, text);
}

void Copy(benchmark::State& state, const std::string& text) {
  std::vector<char> copy(text.size());
  for (auto _ : state) {
    std::memcpy(copy.data(), text.data(), text.size());
    benchmark::ClobberMemory();
  }
  CountBytes(state, text);
}

void FindLines(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    std::int64_t lines = 0;
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
      ++lines;
    }
    benchmark::DoNotOptimize(lines);
  }
  CountBytes(state, text);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string reals = MakeText("reals");
  const std::string ones = MakeText("ones");
  // One thread is measured in its CPU time, which is the rate of a core also on a busy machine.
  const auto add = [](const char* name, auto&&... arguments) {
    return benchmark::RegisterBenchmark(name, arguments...)->Unit(benchmark::kMillisecond);
  };
  add("limit/copy", Copy, reals);
  add("limit/find_lines", FindLines, reals);
  add("parse/reals/one_thread", Parse, reals, 1);
  add("parse/reals/all_threads", Parse, reals, 0)->UseRealTime();
  add("parse/ones/one_thread", Parse, ones, 1);
  add("parse/ones/all_threads", Parse, ones, 0)->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
