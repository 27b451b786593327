#include "datasets/text/json_lines.h"

#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

std::string TableOf(std::string_view lines, std::size_t max_bytes = 1 << 20) {
  JsonColumns columns;
  const auto table = TableOfJsonLines(*ViewText(lines), "in.jsonl", max_bytes, columns);
  Bytes window;
  return std::string(table->Read(0, table->size(), window));
}

std::string TableError(std::string_view lines) {
  return ErrorOf([&] { TableOf(lines); });
}

TEST(JsonLines, BecomeATableWithAColumnForEveryKey) {
  EXPECT_EQ(
      TableOf("{\"a\": 1, \"b\": \"x, \\\"y\\\"\"}\n\n{\"c\": null, \"a\": 2.5e3, \"b\": true}\n"),
      "a,b,c\n1,\"x, \"\"y\"\"\",\n\n2.5e3,true,\n");
}

TEST(JsonLines, NameWhatIsInsideByItsPath) {
  EXPECT_EQ(TableOf("{\"p\": {\"x\": 1, \"q\": [4, {\"z\": 5}]}, \"y\": \"no\\nline\"}\n"),
            "p.x,p.q.0,p.q.1.z,y\n1,4,5,no line\n");
}

TEST(JsonLines, AreRefusedWithTheLine) {
  EXPECT_EQ(TableError("{\"a\": 1}\n\n[1, 2]\n"),
            "in.jsonl:3: is not a JSON object; write one object per line, {...}");
  EXPECT_EQ(TableError("{\"a\": 1}\n{\"a\": }\n"),
            "in.jsonl:2: is not a JSON object; write one object per line, {...}");
  EXPECT_EQ(TableError("{\"a\": " + std::string(32, '[') + std::string(32, ']') + "}\n"),
            "in.jsonl:1: is nested more than 32 levels deep; flatten it");
  EXPECT_EQ(TableError("[{\"a\": 1}]"),
            "in.jsonl: is one JSON list; write one object per line, as jq -c '.[]' does");
}

// Each element of a list has a name of its own, which repeats the key of the list.
TEST(JsonLines, TakeMemoryForTheirNamesOnlyWithinTheLimit) {
  EXPECT_EQ(TableError("{\"" + std::string(2000, 'k') + "\": [1, 2]}\n"),
            "in.jsonl:1: the key 'kkkkkkkkkkkkkkkkkkkk...', with those around it, is longer than "
            "1024 bytes; use shorter ones");
  std::string list = "{\"" + std::string(1000, 'k') + "\": [1";
  for (int i = 0; i < 2000; ++i) list += ",1";
  EXPECT_EQ(TableError(list + "]}\n"),
            "in.jsonl: its rows take more than 1 MB, the limit for one data set; raise it with "
            "--memory-limit");
}

TEST(JsonLines, TakeMemoryForTheirNumberOnlyWithinTheLimit) {
  EXPECT_TRUE(TableError(std::string(1 << 19, '\n')).find("its rows take more than 1 MB") !=
              std::string::npos);
}

// Each line has a key of its own.
std::string LinesOfNewKeys(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += fmt::format("{{\"k{}\":1,\"y\":{}}}\n", i, i % 2);
  return lines;
}

TEST(JsonLines, TakeMemoryForTheirTableOnlyWithinTheLimit) {
  EXPECT_TRUE(Begins(TableError(LinesOfNewKeys(1200)), "in.jsonl: its rows take more than 1 MB"));
}

// A table of 10^10 cells is neither made nor waited for.
TEST(JsonLines, AreRefusedIfNearlyAllOfTheirTableWouldBeEmpty) {
  const std::string lines = LinesOfNewKeys(100000);
  EXPECT_EQ(ErrorOf([&] { TableOf(lines, std::size_t{1} << 42); }),
            "in.jsonl: its 100000 rows have 100001 different keys, but only 200000 values, so "
            "that nearly all of the table would be empty; use fewer keys, or LIBSVM, which leaves "
            "out what is missing");
}

TEST(JsonLines, MayLeaveOutMostOfTheirKeys) {
  std::string lines;  // five keys that all have, and one of its own: 1,000 cells of a table a value
  for (int i = 0; i < 6000; ++i) {
    lines += fmt::format("{{\"own{}\":1,\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5}}\n", i);
  }
  EXPECT_EQ(ErrorOf([&] { TableOf(lines, std::size_t{1} << 42); }), "no error");
}

TEST(JsonLines, ShareTheLimitWithTheirRows) {
  const std::string lines = LinesOfNewKeys(600);
  const auto learn = [&](std::int64_t most) {
    return ErrorOf([&] {
      ReadTrainingText(InputFromBytes(lines, "in.txt"), {}, {.threads = 1, .memory_bytes = most});
    });
  };
  constexpr std::int64_t kTable = 601 * 600, kRows = 600 * 599 * sizeof(Cell);
  EXPECT_TRUE(Begins(learn(kTable + kRows), "in.txt: its rows take more than 3 MB"));
  EXPECT_FALSE(Begins(learn(kTable + kRows + 50000), "in.txt: its rows take more"));
}

TEST(JsonLines, TrainLikeATable) {
  std::string lines, csv = "size,kind,y\n";
  for (int i = 0; i < 60; ++i) {
    const char* kind = i % 3 == 0 ? "big" : "small";
    lines += fmt::format("{{\"size\": {}, \"kind\": \"{}\", \"y\": \"c{}\"}}\n", i, kind, i % 2);
    csv += fmt::format("{},{},c{}\n", i, kind, i % 2);
  }
  const TrainingData from_json = Learn(lines), from_csv = Learn(csv);
  EXPECT_EQ(from_json.schema.table, from_csv.schema.table);
  EXPECT_EQ(from_json.data.dense, from_csv.data.dense);
  EXPECT_EQ(from_json.data.classes, from_csv.data.classes);
  EXPECT_EQ(Apply(lines, from_csv.schema).dense, Apply(csv, from_json.schema).dense);
}

TEST(JsonLines, PlaceTheErrorsOfLaterSteps) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += fmt::format("{{\"a\": {}, \"y\": {}}}\n", i, i % 2);
  lines += "{\"a\": \"x\", \"y\": 1}\n";
  EXPECT_TRUE(Begins(LearnError(lines), "in.txt:301: 'x'")) << LearnError(lines);
}

}  // namespace
}  // namespace hogbatch
