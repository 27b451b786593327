#include "datasets/text/text_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "tests/datasets/packing.h"
#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30;

std::string Text(int rows = 5000) {
  std::string text;
  for (int i = 0; i < rows; ++i) text += std::to_string(i % 2) + " 1:" + std::to_string(i) + "\n";
  return text;
}

std::string All(const TextSource& source) {
  Bytes window;
  return std::string(source.Read(0, source.size() + 1, window));
}

std::string OpenError(const std::string& bytes, std::size_t max_bytes = kPlenty) {
  return ErrorOf([&] { OpenBytes(bytes, "in", max_bytes); });
}

TEST(TextSource, ReadsPlainAndPackedFilesAlikeWhateverTheirName) {
  const std::string text = Text();
  std::vector<std::string> files = PackedAll(text);
  files.push_back(text);
  for (const std::string& bytes : files) {
    const TemporaryFile file(bytes);
    EXPECT_EQ(All(*OpenText(file.path(), kPlenty)), text);
  }
}

TEST(TextSource, ReadsFilesPackedInSeveralPieces) {
  const std::string text = Text();
  for (const std::string& packed : PackedAll(text)) {
    const std::string two = packed + packed;
    EXPECT_EQ(All(*OpenBytes(two, "in", kPlenty)), text + text);
  }
}

TEST(TextSource, IgnoresZerosAfterGzip) {
  const std::string padded = PackGzip(Text()) + std::string(512, '\0');
  EXPECT_EQ(All(*OpenBytes(padded, "in", kPlenty)), Text());
}

TEST(TextSource, ReportsTruncatedFiles) {
  for (const std::string& packed : PackedAll(Text())) {
    for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{8}}) {
      const std::string error = OpenError(packed.substr(0, size));
      EXPECT_NE(error.find("is cut off"), std::string::npos) << size << " " << error;
    }
  }
}

TEST(TextSource, ReportsDamagedFiles) {
  for (std::string packed : PackedAll(Text())) {
    for (std::size_t i = 0; i < 20; ++i) packed[packed.size() / 2 + i] ^= 0x55;
    const std::string error = OpenError(packed);
    EXPECT_NE(error.find("is damaged"), std::string::npos) << error;
  }
  EXPECT_NE(OpenError(PackGzip(Text()) + "tail").find("is damaged"), std::string::npos);
}

TEST(TextSource, RefusesWhatUnpacksToMoreThanTheLimit) {
  const std::string zeros(std::size_t{8} << 20, '0');
  for (const std::string& packed : PackedAll(zeros)) {
    const std::string error = OpenError(packed, std::size_t{4} << 20);
    EXPECT_NE(error.find("decompresses to more than 4 MB"), std::string::npos) << error;
  }
}

TEST(TextSource, ReportsMissingAndEmptyFilesAndDirectories) {
  const auto error = [](const std::string& path) {
    return ErrorOf([&] { ReadTrainingData(path, {}); });
  };
  EXPECT_EQ(error("/no/such.svm"), "cannot open /no/such.svm: No such file or directory");
  EXPECT_TRUE(Begins(error("/tmp"), "/tmp: is a directory"));
  const TemporaryFile empty("");
  EXPECT_EQ(error(empty.path()), empty.path() + ": the file is empty; use one with rows of data");
  const TemporaryFile packed(PackXz(""));
  EXPECT_TRUE(Begins(error(packed.path()), packed.path() + ": the file is empty"));
  const TemporaryFile blank("\n \n");
  EXPECT_TRUE(Begins(error(blank.path()), blank.path() + ": the file has no rows"));
}

TEST(TextSource, ReadsAnyPartOfAFileAfterItsByteOrderMark) {
  const TemporaryFile file("\xef\xbb\xbf" + std::string("0123456789"));
  const auto source = OpenText(file.path(), kPlenty);
  Bytes window;
  EXPECT_EQ(source->size(), 10u);
  EXPECT_EQ(source->Read(0, 3, window), "012");
  EXPECT_EQ(source->Read(8, 100, window), "89");
  EXPECT_EQ(source->Read(10, 1, window), "");
  EXPECT_EQ(source->Read(1000, 1, window), "");
}

TEST(TextSource, SaysWhereAFileEndsThatBecomesShorterWhileItIsRead) {
  const TemporaryFile file(Text());
  const auto source = OpenText(file.path(), kPlenty);
  std::filesystem::resize_file(file.path(), 100);
  Bytes window;
  EXPECT_EQ(source->Read(0, 100, window).size(), 100u);
  const std::string error = ErrorOf([&] { source->Read(0, 101, window); });
  EXPECT_TRUE(Begins(error, file.path() + ": became shorter while it was read")) << error;
  EXPECT_NE(error.find("ends before byte 101"), std::string::npos) << error;
}

TEST(TextSource, RefusesPipesThatNoProgramWritesToAndDevices) {
  const TemporaryFile file("");
  const std::string pipe = file.path() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(Begins(ErrorOf([&] { OpenText(pipe, kPlenty); }),
                     pipe + ": is a pipe that no program writes to"));
  std::filesystem::remove(pipe);
  for (const char* device : {"/dev/zero", "/dev/null", "/dev/urandom"}) {
    EXPECT_TRUE(
        Begins(ErrorOf([&] { OpenText(device, kPlenty); }), std::string(device) + ": is a device"));
  }
}

TEST(TextSource, ReadsAPipeWhoseWriterIsSlow) {
  const TemporaryFile file("");
  const std::string pipe = file.path() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] {
    std::ofstream out(pipe, std::ios::binary);  // waits for the reader
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    out << Text() << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    out << "end";
  });
  EXPECT_EQ(All(*OpenText(pipe, kPlenty)), Text() + "end");
  std::filesystem::remove(pipe);
}

TEST(MemoryBudget, IsWhatWasAskedForOrPartOfTheMemory) {
  EXPECT_EQ(MemoryBudget(12345), 12345u);
  EXPECT_GT(MemoryBudget(0), std::size_t{1} << 20);
}

TEST(MemoryBudget, BoundsTheRowsOfAFile) {
  const std::string error = ErrorOf(
      [&] { Learn(Text(), {}, {.threads = 2, .chunk_bytes = 1000, .memory_bytes = 50000}); });
  EXPECT_NE(error.find("its rows take more than 0 MB"), std::string::npos) << error;
  EXPECT_NE(error.find("--memory-limit"), std::string::npos) << error;
}

TEST(TextSource, NamesPackingsItDoesNotRead) {
  EXPECT_TRUE(Begins(OpenError("PK\x03\x04..."), "in: compressed with zip"));
  EXPECT_EQ(OpenError("BZh"), "no error") << "too short to be any of them";
}

TEST(TextSource, ReportsErrorsOfPackedFilesByTheirPlainLines) {
  const TemporaryFile file(PackGzip(Text(10) + "1 1:x\n"));
  EXPECT_TRUE(Begins(ErrorOf([&] { ReadTrainingData(file.path(), {}); }),
                     file.path() + ":11:5: 'x' is not a number"));
}

TEST(TextSource, EndsLinesThatEndWithACarriageReturnAlone) {
  EXPECT_EQ(All(*OpenBytes("a,b\r1,2\r", "in", kPlenty)), "a,b\n1,2\n");
  EXPECT_EQ(All(*OpenBytes("a,b\r\n1,2\r\n", "in", kPlenty)), "a,b\r\n1,2\r\n");
  const std::string idx("\0\0\x08\x01\r\r", 6);
  EXPECT_EQ(All(*OpenBytes(idx, "in", kPlenty)), idx) << "binary data stays";
}

TEST(TextSource, RefusesUtf16) {
  const std::string sentence =
      "in: is UTF-16 text; convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW";
  EXPECT_EQ(OpenError("\xff\xfe" + std::string("a\0,\0", 4)), sentence);
  EXPECT_EQ(OpenError(std::string("a\0,\0b\0", 6)), sentence);
  EXPECT_EQ(OpenError(std::string("\0a\0,\0b", 6)), sentence);
}

}  // namespace
}  // namespace hogbatch
