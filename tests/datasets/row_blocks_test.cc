#include "datasets/row_blocks.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/datasets/packing.h"
#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

std::string Table(int rows) {
  std::string text = "a,word,y\n";
  for (int i = 0; i < rows; ++i) {
    text += fmt::format("{},\"w\n{}\",{}\n", i, i % 3, i % 2);  // a line end within a field
  }
  return text;
}

struct Blocks {
  std::int64_t rows = 0;
  int blocks = 0;
  std::vector<float> dense;
  std::vector<std::string> texts;
};

Blocks ReadAllBlocks(const std::string& path, const Schema& schema, std::size_t bytes) {
  RowBlocks blocks(path, schema, {}, RowBlocks::Text::kKept, bytes);
  Blocks all;
  while (const auto block = blocks.Next()) {
    ++all.blocks;
    all.rows += block->data.rows;
    Dataset data = block->data;
    ConvertStorage(data, Storage::kDense);
    all.dense.insert(all.dense.end(), data.dense.begin(), data.dense.end());
    all.texts.insert(all.texts.end(), block->rows.begin(), block->rows.end());
    EXPECT_EQ(std::ssize(block->rows), block->data.rows);
  }
  return all;
}

TEST(RowBlocks, AreTheRowsOfTheFileWhateverTheirSize) {
  constexpr int kRows = 20000;  // more than is looked at to find the format
  const std::string text = Table(kRows);
  const Schema schema = Learn(text).schema;
  Dataset whole = Apply(text, schema, Labels::kOptional);
  ConvertStorage(whole, Storage::kDense);
  const TemporaryFile file(text);
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{5000}, std::size_t{1} << 20}) {
    const Blocks blocks = ReadAllBlocks(file.path(), schema, bytes);
    EXPECT_EQ(blocks.rows, kRows);
    EXPECT_EQ(blocks.dense, whole.dense);
    EXPECT_EQ(blocks.blocks == 1, bytes > 10000);
    EXPECT_EQ(blocks.texts.at(7), "7,\"w\n1\",1");
  }
}

TEST(RowBlocks, OfATableWithoutNamesHaveNoHeader) {
  std::string text = "sep=;\n# a note\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{};{};{}\n", i * i % 7, i % 5, i % 2);
  const Schema schema = Learn(text).schema;
  const TemporaryFile file(text);
  const Blocks blocks = ReadAllBlocks(file.path(), schema, 64);
  EXPECT_EQ(blocks.rows, 50);
  EXPECT_EQ(blocks.texts.front(), "0;0;0");
  RowBlocks first(file.path(), schema, {}, RowBlocks::Text::kKept, 64);
  EXPECT_TRUE(first.Next());
  EXPECT_EQ(first.header(), "");
}

TEST(RowBlocks, OfJsonLinesMayLackKeys) {
  const Schema schema = Learn(Table(200)).schema;
  const TemporaryFile file("{\"a\": 1, \"word\": \"w 1\"}\n{\"a\": 2}\n\n{\"word\": \"w 2\"}\n");
  const Blocks blocks = ReadAllBlocks(file.path(), schema, 1);
  EXPECT_EQ(blocks.rows, 3);
  EXPECT_EQ(blocks.texts.at(2), "{\"word\": \"w 2\"}");
}

TEST(RowBlocks, SayWhereAMistakeIs) {
  const Schema schema = Learn(Table(200)).schema;
  const TemporaryFile file(Table(100) + "1,2\n");
  const std::string error = ErrorOf([&] { ReadAllBlocks(file.path(), schema, 64); });
  EXPECT_EQ(error,
            file.path() + ":202:4: the line ends after 2 of 3 fields; complete or remove it");
}

TEST(RowBlocks, ComeAsTheyAreWritten) {
  const Schema schema = Learn(Table(200)).schema;
  const std::string path = testing::TempDir() + "hogbatch_rows_pipe";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::atomic<int> seen = 0;
  std::jthread writer([&] {
    std::ofstream pipe(path);
    pipe << "a,word\n" << std::flush;
    for (int i = 0; i < 3; ++i) {
      pipe << i << ",w\n" << std::flush;
      while (seen <= i) std::this_thread::yield();  // the next row follows only on an answer
    }
  });
  RowBlocks blocks(path, schema, {}, RowBlocks::Text::kDropped, 1 << 20);
  while (const auto block = blocks.Next()) seen += static_cast<int>(block->data.rows);
  EXPECT_EQ(seen, 3);
  std::filesystem::remove(path);
}

// The writer of a pipe whose reader goes away is ended by a signal.
TEST(RowBlocks, OpenAPipeOnce) {
  const Schema schema = Learn(Table(200)).schema;
  const std::string path = testing::TempDir() + "hogbatch_rows_once";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::fstream writer(path);  // for both, so that it does not wait for a reader
  writer << "a,word\n1,w\n" << std::flush;
  const int watch = inotify_init1(IN_NONBLOCK);
  ASSERT_GE(inotify_add_watch(watch, path.c_str(), IN_OPEN), 0);
  RowBlocks blocks(path, schema, {}, RowBlocks::Text::kDropped, 1 << 20);
  std::array<inotify_event, 3> events{};
  EXPECT_EQ(read(watch, events.data(), sizeof(events)), sizeof(inotify_event));
  close(watch);
  writer.close();
  EXPECT_EQ(blocks.Next()->data.rows, 1);
  std::filesystem::remove(path);
}

// A file without line ends is not held in memory, whatever its length.
TEST(TextBlocks, RefuseARowThatIsTooLong) {
  const auto error_of = [](const std::string& text, bool has_quotes) {
    TextBlocks blocks(ViewText(text), "in.csv", 1 << 20);
    if (has_quotes) blocks.JoinQuotedLines();
    return ErrorOf([&] {
      while (blocks.Next(1000)) {
      }
    });
  };
  const std::string much(2 << 20, '1');
  EXPECT_EQ(error_of("a,b\n1,2\n" + much, false),
            "in.csv:3: the row is longer than 1 MB; write one row per line");
  std::string lines = "a,b\n1,\"2\n";
  for (int i = 0; i < (1 << 18); ++i) lines += "1,2,3\n";
  EXPECT_EQ(error_of(lines, false), "no error");
  EXPECT_EQ(error_of(lines, true),
            "in.csv:2: the row is longer than 1 MB; close its quotation mark");
}

}  // namespace
}  // namespace hogbatch
