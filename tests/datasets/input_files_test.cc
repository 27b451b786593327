#include "datasets/input_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "datasets/convert/written_rows.h"
#include "datasets/text/joined_text.h"
#include "tests/datasets/packing.h"
#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

class InputFilesTest : public testing::Test {
 protected:
  InputFilesTest() : folder_(testing::TempDir() + "hogbatch_files_XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~InputFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

std::string RowLines(int begin, int end) {
  std::string rows;
  for (int i = begin; i < end; ++i) rows += fmt::format("{},{},{}\n", i, i * i % 7, i % 2);
  return rows;
}

TEST_F(InputFilesTest, AreWhatAPatternMatches) {
  const std::string a = Write("part-1.csv", "x"), b = Write("part-2.csv", "x");
  Write("other.csv", "x");
  EXPECT_EQ(InputFiles(folder_ + "/part-*.csv"), (std::vector<std::string>{a, b}));
  EXPECT_EQ(InputFiles(JoinFiles({a, b})), (std::vector<std::string>{a, b}));
  EXPECT_EQ(InputFiles("-"), std::vector<std::string>{"-"});
  EXPECT_EQ(ErrorOf([&] { InputFiles(folder_ + "/none-*.csv"); }),
            folder_ + "/none-*.csv: no file has a name like this; check the pattern");
  const std::string odd = Write("what?[1].csv", "x");
  EXPECT_EQ(InputFiles(odd), std::vector<std::string>{odd});
}

TEST_F(InputFilesTest, AreReadAsOne) {
  const std::string header = "a,b,y\n";
  const std::string whole = Write("whole", header + RowLines(0, 100));
  // The first part lacks its last line end.
  const std::string first =
      Write("first", header + RowLines(0, 40).substr(0, RowLines(0, 40).size() - 1));
  const std::string second = Write("second", header + RowLines(40, 100));
  const TrainingData together = ReadTrainingData(JoinFiles({first, second}), {});
  const TrainingData one = ReadTrainingData(whole, {});
  EXPECT_EQ(together.data.dense, one.data.dense);
  EXPECT_EQ(together.data.classes, one.data.classes);
  EXPECT_EQ(together.data.source, first + " and 1 more");
}

TEST_F(InputFilesTest, ShareTheMemoryLimit) {
  const std::string packed = PackGzip(std::string(3 << 19, '1') + "\n");
  const std::vector<std::string> files = {Write("a.gz", packed), Write("b.gz", packed)};
  EXPECT_EQ(OpenFiles(files, "", 4 << 20)->size(), 2u * (3 << 19) + 2);
  EXPECT_EQ(ErrorOf([&] { OpenFiles(files, "", (5 << 19) + 8); }),
            files[1] +
                ": decompresses to more than 1 MB, the limit for one data set or what is left of "
                "it; raise it with --memory-limit, or decompress it and use the plain file");
}

TEST_F(InputFilesTest, AreCopiedInMemoryOnlyWithinTheLimit) {
  const std::string lines = "{\"a\": 1, \"b\": 2}\n";
  std::string text;
  for (int i = 0; i < 1000; ++i) text += lines;
  const std::string file = Write("rows.jsonl", text);
  const WrittenRows rows = ReadWrittenRows(file, {.memory_bytes = 1 << 20});
  EXPECT_EQ(rows.rows.size(), 1000u);
  EXPECT_EQ(CsvOfJson(rows, 1 << 20).size(), 4 * 1001u);
  EXPECT_THROW(CsvOfJson(rows, text.size()), UserError) << "its cells take more than its text";
  EXPECT_THROW(ReadWrittenRows(file, {.memory_bytes = 10000}), UserError);
}

TEST_F(InputFilesTest, NameTheFileAndTheLineOfAMistake) {
  const std::string first = Write("first", "a,b,y\n" + RowLines(0, 40));
  const std::string second = Write("second", "a,b,y\n" + RowLines(40, 50) + "1,2\n");
  EXPECT_EQ(ErrorOf([&] { ReadTrainingData(JoinFiles({first, second}), {}); }),
            second + ":12:4: the line ends after 2 of 3 fields; complete or remove it");
  const std::string other = Write("other", "b,a,y\n" + RowLines(0, 9));
  EXPECT_EQ(
      ErrorOf([&] { ReadTrainingData(JoinFiles({first, other}), {}); }),
      other + ": does not begin with the header of " + first + "; give all files the same header");
  const std::string sparse = Write("sparse", "1 1:2\n0 2:3\n");
  EXPECT_EQ(ErrorOf([&] { ReadTrainingData(JoinFiles({first, sparse}), {}); }),
            first + " and " + sparse + " have different formats; convert one of them");
}

TEST(JoinedText, ReadsAcrossItsParts) {
  std::vector<TextPart> parts;
  parts.push_back({.text = ViewText("ab\ncd"), .source = "1"});
  parts.push_back({.text = ViewText("h\nef\n"), .source = "2", .skip_bytes = 2, .skip_lines = 1});
  parts.push_back({.text = ViewText("g"), .source = "3"});
  const JoinedText text(std::move(parts));
  const std::string all = "ab\ncd\nef\ng\n";
  ASSERT_EQ(text.size(), all.size());
  for (std::size_t begin = 0; begin <= all.size(); ++begin) {
    for (std::size_t count = 0; begin + count <= all.size() + 1; ++count) {
      Bytes window;
      EXPECT_EQ(text.Read(begin, count, window), all.substr(begin, count)) << begin << ' ' << count;
    }
  }
  EXPECT_EQ(text.OriginOf(7, "").source, "2");
  EXPECT_EQ(text.OriginOf(7, "").first_line, 2U);
  EXPECT_EQ(text.OriginOf(all.size() - 1, "").source, "3");
}

}  // namespace
}  // namespace hogbatch
