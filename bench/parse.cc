// How fast LIBSVM and CSV text is parsed, beside two limits of the machine: copying the text, and
// finding its line ends.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "datasets/readers/csv_reader.h"
#include "datasets/readers/libsvm_reader.h"
#include "datasets/readers/parsed_file.h"

namespace {

using hogbatch::ParsedRows;
using hogbatch::ParseSettings;

constexpr int kCsvColumns = 20;
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

// Rows of twenty columns and a label; of words, every other column has one of fifty.
std::string MakeCsv(bool has_words) {
  hogbatch::Random random(1);
  std::string text;
  text.reserve(kTextBytes + 4096);
  while (text.size() < kTextBytes) {
    for (int i = 0; i < kCsvColumns; ++i) {
      if (has_words && i % 2 == 1) {
        fmt::format_to(std::back_inserter(text), "category{},", random.Below(50));
      } else {
        fmt::format_to(std::back_inserter(text), "{:.6g},", 100 * random.Uniform());
      }
    }
    text += random.Below(2) == 0 ? "0\n" : "1\n";
  }
  return text;
}

hogbatch::CsvPlan PlanOf(bool has_words) {
  hogbatch::CsvPlan plan;
  for (int i = 0; i < kCsvColumns; ++i) {
    const bool is_word = has_words && i % 2 == 1;
    plan.columns.push_back(
        {.kind = is_word ? hogbatch::CsvColumn::Kind::kWord : hogbatch::CsvColumn::Kind::kNumber,
         .column = i});
  }
  plan.columns.push_back({.kind = hogbatch::CsvColumn::Kind::kLabel});
  return plan;
}

void CountBytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void Parse(benchmark::State& state, const std::string& text, int threads,
           const hogbatch::ChunkParser& parse) {
  for (auto _ : state) {
    const auto source = hogbatch::OpenBytes(text, "text", text.size());
    const auto file = hogbatch::ParseInChunks(*source, 0, "text", {.threads = threads}, parse);
    benchmark::DoNotOptimize(file.rows());
  }
  CountBytes(state, text);
}

void ParseLibsvmText(benchmark::State& state, const std::string& text, int threads) {
  Parse(state, text, threads, [](std::string_view chunk, ParsedRows& out) {
    hogbatch::ParseLibsvm(chunk, hogbatch::kLargestIndex, hogbatch::Labels::kRequired, out);
  });
}

void ParseCsvText(benchmark::State& state, const std::string& text, bool has_words, int threads) {
  const hogbatch::CsvPlan plan = PlanOf(has_words);
  Parse(state, text, threads,
        [&](std::string_view chunk, ParsedRows& out) { hogbatch::ParseCsv(chunk, plan, out); });
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
  add("parse/reals/one_thread", ParseLibsvmText, reals, 1);
  add("parse/reals/all_threads", ParseLibsvmText, reals, 0)->UseRealTime();
  add("parse/ones/one_thread", ParseLibsvmText, ones, 1);
  add("parse/ones/all_threads", ParseLibsvmText, ones, 0)->UseRealTime();
  for (const bool has_words : {false, true}) {
    const std::string csv = MakeCsv(has_words);
    const std::string name = has_words ? "csv/words" : "csv/numbers";
    add((name + "/one_thread").c_str(), ParseCsvText, csv, has_words, 1);
    add((name + "/all_threads").c_str(), ParseCsvText, csv, has_words, 0)->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
