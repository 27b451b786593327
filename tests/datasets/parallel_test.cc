#include "datasets/parallel.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/random.h"
#include "tests/datasets/reading.h"
#include "tests/support/same_rows.h"

namespace hogbatch {
namespace {

void ExpectSame(const TrainingData& a, const TrainingData& b) {
  ExpectSameRows(a.data, b.data);
  EXPECT_EQ(a.schema.label_names, b.schema.label_names);
  EXPECT_EQ(a.schema.used_columns, b.schema.used_columns);
  EXPECT_EQ(a.schema.shift, b.schema.shift);
  EXPECT_EQ(a.schema.scale, b.schema.scale);
  EXPECT_EQ(a.schema.target_mean, b.schema.target_mean);
}

void ExpectChunksDoNotMatter(const std::string& text, ScalingKind scaling) {
  const ReadOptions options{.scaling = scaling};
  const TrainingData whole =
      Learn(text, options, {.threads = 1, .chunk_bytes = std::size_t{1} << 30});
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{100}, std::size_t{4096}}) {
    ExpectSame(whole, Learn(text, options, {.threads = 4, .chunk_bytes = chunk}));
  }
}

TEST(ParallelParsing, EqualsOneThreadBitForBitOnSparseRows) {
  Random random(1);
  std::string text;
  for (int row = 0; row < 400; ++row) {
    text += std::to_string(random.Below(5)) + (row % 7 == 0 ? fmt::format(",{}", row % 11) : "");
    for (int i = 0; i < 10; ++i) {
      const std::int64_t index = 1 + random.Below(100000);
      text += fmt::format(" {}:{}", index, random.Normal() * 100);
    }
    text += row % 5 == 0 ? "\r\n\n" : " # note\n";
  }
  ExpectChunksDoNotMatter(text, ScalingKind::kMaxAbs);
}

TEST(ParallelParsing, EqualsOneThreadBitForBitOnDenseRows) {
  Random random(2);
  std::string text = "a,b,c,y\n";
  for (int row = 0; row < 2000; ++row) {
    for (int i = 0; i < 3; ++i) text += std::to_string(random.Normal() * 100) + ",";
    text += std::to_string(random.Normal()) + "\n";
  }
  ExpectChunksDoNotMatter(text, ScalingKind::kStandard);
}

TEST(ParallelParsing, EqualsOneThreadBitForBitOnWords) {
  std::string text;
  for (int row = 0; row < 500; ++row) {
    text += std::to_string(row * row % 97) + "," + std::to_string(row % 5) + "," +
            (row % 3 == 0 ? std::string("7") : fmt::format("word{}", row % 10)) + "\n";
  }
  ExpectChunksDoNotMatter(text, ScalingKind::kAuto);
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  std::vector<std::atomic<int>> visits(1000);
  ParallelFor(1000, 4, [&](std::int64_t i) { ++visits[i]; });
  EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; }));
}

TEST(ParallelFor, RethrowsWhatABodyThrows) {
  EXPECT_THROW(ParallelFor(100, 3,
                           [](std::int64_t i) {
                             if (i == 50) throw std::runtime_error("fifty");
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace hogbatch
