// Data files made to break a reader: each is read, or refused with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/datasets/packing.h"
#include "tests/hostile/refused.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;

std::string Times(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string BigEndian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

std::string Idx(char type, const std::vector<std::uint32_t>& sizes, const std::string& numbers) {
  std::string file = std::string(2, '\0') + type + static_cast<char>(sizes.size());
  for (const std::uint32_t size : sizes) file += BigEndian(size);
  return file + numbers;
}

struct DataFile {
  const char* name;
  std::function<std::string()> content;
  const char* gist;      // of the refusal; empty: it is read
  Strings options = {};  // of train, beside those that make it short
  friend void PrintTo(const DataFile& file, std::ostream* out) { *out << file.name; }
};

class HostileData : public testing::TestWithParam<DataFile> {};

TEST_P(HostileData, IsReadOrRefusedWithAReason) {
  const TemporaryFolder folder;
  folder.Write("bad", GetParam().content());
  Strings command = {"train",     "bad",   "--epochs", "1",     "--hidden", "2",
                     "--devices", "cpu:1", "--quiet",  "--out", "o"};
  command.insert(command.end(), GetParam().options.begin(), GetParam().options.end());
  const Finished finished = RunProgram(command, folder.path());
  ExpectSmall(finished);
  if (*GetParam().gist != '\0') return ExpectRefused(finished, GetParam().gist);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(folder.Has("o/model.safetensors"));
}

const std::string kRows = "1 1:2 2:1\n-1 1:3\n1 2:2\n-1 1:1\n";

std::vector<DataFile> Texts() {
  return {
      {"Empty", [] { return ""; }, "is empty"},
      {"LineEnds", [] { return Times("\n", 100000); }, "has no rows"},
      {"Spaces", [] { return Times(" ", 100000); }, "has no rows"},
      {"Zeros", [] { return std::string(8192, '\0'); }, "binary data"},
      {"ByteOrderMarkAlone", [] { return "\xef\xbb\xbf"; }, "bad"},
      {"Utf16",
       [] {
         return std::string(
             "\xff\xfe"
             "1\0 \0001\0:\0002\0\n\0",
             14);
       },
       "UTF-16"},
      {"ZeroAfterText", [] { return Times(kRows, 1000) + std::string("\0\0\0", 3); }, "bad:4001"},
      {"TwoMillionCommas", [] { return std::string(2 << 20, ',') + "\n"; },
       "more than 1048576 columns"},
      {"LineOfSeventyMegabytes", [] { return std::string(70 << 20, ','); }, "longer than 64 MB"},
      {"QuoteNeverClosed", [] { return "a,b\n\"1,2\n3,4\n"; }, "quotation mark"},
      {"MillionQuotes", [] { return "a,b\n1," + std::string(1000001, '"') + "\n"; }, "bad:2"},
      {"CarriageReturnsOnly", [] { return Times("1.5,2,0\r3,4,1\r5,6,0\r", 10); }, ""},
      {"JsonOpen", [] { return "{\"a\": 1, \"y\": "; }, "bad:1"},
      {"JsonNestedDeeply", [] { return Times("{\"a\":", 100000) + "1" + Times("}", 100000); },
       "bad:1"},
      {"JsonList", [] { return "[" + Times("{\"a\": 1, \"y\": 0},", 1000) + "{}]"; },
       "one JSON list"},
      {"JsonOfOtherTypes", [] { return "{\"a\": 1, \"y\": 0}\n7\n"; }, "bad:2"},
      {"JsonWithoutKeys", [] { return Times("{}\n", 100); }, "bad"},
      {"JsonWithTwoMillionKeys",
       [] {
         std::string line = "{";
         for (int i = 0; i < 1100000; ++i) line += "\"" + std::to_string(i) + "\":1,";
         return line + "\"y\":1}\n";
       },
       "different keys"},
      {"JsonWithEmptyAndEqualKeys",
       [] { return Times("{\"\": 1, \"\": 2, \"y\": 0}\n{\"\": 3, \"y\": 1}\n", 20); }, ""},
      {"JsonWithNewKeysInEveryLine",
       [] {
         std::string lines;
         for (int i = 0; i < 200000; ++i) lines += "{\"k" + std::to_string(i) + "\":1,\"y\":0}\n";
         return lines;
       },
       "nearly all of the table would be empty"},
      {"IndexBeyond32Bits", [] { return kRows + "1 4294967297:1\n"; }, "bad:5:3"},
      {"IndexOfAHundredDigits", [] { return kRows + "1 " + Times("9", 100) + ":1\n"; }, "bad:5:3"},
      {"LargestIndex", [] { return kRows + "1 2147483648:1\n"; }, ""},
      {"SameIndexTwice", [] { return kRows + "1 1:1 1:1 1:1\n"; }, ""},
      {"IndicesBackwards", [] { return kRows + "1 9:1 5:1 1:1\n"; }, ""},
      {"LabelsAlone", [] { return "1\n-1\n1\n-1\n"; }, "no row has a feature"},
      {"LabelNan", [] { return kRows + "nan 1:1\n"; }, "bad:5:1"},
      {"LabelOverflows", [] { return kRows + "1e400 1:1\n"; }, "bad:5:1"},
      {"ValueOverflows", [] { return kRows + "1 1:1e39\n"; }, "bad:5:5"},
      {"ValueUnderflows", [] { return kRows + "1 1:1e-400\n"; }, ""},
      {"ValueMissing", [] { return kRows + "1 1:\n"; }, "bad:5:5"},
      {"IndexMissing", [] { return kRows + "1 :1\n"; }, "bad:5:3"},
      {"TwoColons", [] { return kRows + "1 1:1:1\n"; }, "bad:5"},
      {"NumberOfAMillionDigits", [] { return kRows + "1 1:0." + Times("7", 1000000) + "\n"; }, ""},
      {"HundredThousandLabels", [] { return kRows + Times("1,", 100000) + "1 1:1\n"; }, ""},
      {"LabelsTooLargeToLearn",
       [] { return "1e300,1.5\n-1e300,2.5\n5e299,3\n"; },
       "too large",
       {"--label", "first", "--loss", "squared"}},
      {"EscapesInLabels", [] { return Times("1,2,\x1b[31mred\n3,4,\x1b]0;title\x07\n", 5); }, ""},
      {"EscapesInNumbers", [] { return Times("1,2,0\n", 200) + "1,\x1b[31m,1\n"; }, "'?[31m'"},
      {"OneRow", [] { return "1.5,2,0\n"; }, "bad"},
      {"HeaderAlone", [] { return "a,b,c\n"; }, "bad"},
      {"RowTooLong", [] { return "1.5,2,0\n1,2,1,3\n"; }, "bad:2"},
      {"RowTooShort", [] { return "1.5,2,0\n1,1\n"; }, "bad:2"},
      {"EmptyFields", [] { return "1.5,2,0\n,,\n"; }, "every row has the label 0"},
      {"RandomBytes", [] { return "\x80\x91\xfe\xc3\x28\xa0\xa1\xe2\x28\xa1\xf0\x28\x8c\xbc"; },
       "bad"},
      {"Program",
       [] {
         return std::string(
             "\x7f"
             "ELF\2\1\1\0\0\0",
             10);
       },
       "binary data"},
      {"Picture", [] { return std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16); }, "binary data"},
      {"Json", [] { return R"({"rows": [[1, 2], [3, 4]]})"; }, "bad"},
      {"Html", [] { return "<html><body>404 not found</body></html>\n"; }, "bad"},
      {"RowsBeyondTheLimit",
       [] { return Times(kRows, 20000); },
       "--memory-limit",
       {"--memory-limit", "1M"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Text, HostileData, testing::ValuesIn(Texts()),
                         [](const auto& one) { return one.param.name; });

std::string Flipped(std::string bytes, std::size_t from_end) {
  bytes[bytes.size() - from_end] ^= 0x55;
  return bytes;
}

std::vector<DataFile> Packed() {
  return {
      {"Zip", [] { return "PK\x03\x04 and more"; }, "compressed with zip"},
      {"ZstdDamaged", [] { return "\x28\xb5\x2f\xfd and more"; }, "the zstd file is damaged"},
      {"Bzip2Damaged", [] { return "BZh91AY&SY and more"; }, "the bzip2 file is"},
      {"GzipHeaderAlone", [] { return std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10); }, "cut off"},
      {"GzipMagicAlone", [] { return "\x1f\x8b"; }, "cut off"},
      {"GzipOfNothing", [] { return PackGzip(""); }, "is empty"},
      {"GzipWrongChecksum", [] { return Flipped(PackGzip(kRows), 6); }, "damaged"},
      {"GzipWithATail", [] { return PackGzip(kRows) + "tail"; }, "damaged"},
      {"GzipInGzip", [] { return PackGzip(PackGzip(kRows)); }, "bad"},
      {"GzipBomb",
       [] { return PackGzip(std::string(8 << 20, '0')); },
       "--memory-limit",
       {"--memory-limit", "1M"}},
      {"XzHeaderAlone",
       [] {
         return std::string(
             "\xfd"
             "7zXZ\0\0\4\xe6\xd6\xb4\x46",
             12);
       },
       "cut off"},
      {"XzOfNothing", [] { return PackXz(""); }, "is empty"},
      {"XzDamaged", [] { return Flipped(PackXz(Times(kRows, 100)), 40); }, "damaged"},
      {"XzBomb",
       [] { return PackXz(std::string(8 << 20, '0')); },
       "--memory-limit",
       {"--memory-limit", "1M"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Packed, HostileData, testing::ValuesIn(Packed()),
                         [](const auto& one) { return one.param.name; });

class HostileImages : public testing::TestWithParam<DataFile> {};

TEST_P(HostileImages, AreReadOrRefusedWithAReason) {
  const TemporaryFolder folder;
  folder.Write("bad", GetParam().content());
  folder.Write("labels", Idx(8, {4}, std::string("\0\1\0\1", 4)));
  const Finished finished =
      RunProgram({"train", "bad", "--labels", "labels", "--epochs", "1", "--hidden", "2",
                  "--devices", "cpu:1", "--quiet", "--out", "o"},
                 folder.path());
  ExpectSmall(finished);
  if (*GetParam().gist != '\0') return ExpectRefused(finished, GetParam().gist);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

std::vector<DataFile> Images() {
  const std::string four(4, '\1');
  return {
      {"Good", [] { return Idx(8, {4, 2}, "abcdefgh"); }, ""},
      {"CutInItsHeader", [] { return Idx(8, {4, 2}, "").substr(0, 7); }, "bad"},
      {"ManyDimensions", [] { return Idx(8, std::vector<std::uint32_t>(255, 1), "a"); }, "bad"},
      {"SizesOverflow", [] { return Idx(8, {4, 0xffffffff, 0xffffffff}, ""); }, "bad"},
      {"FourBillionRows", [] { return Idx(8, {0xffffffff, 1}, "ab"); }, "bad"},
      {"NoRows", [] { return Idx(8, {0, 2}, ""); }, "no rows"},
      {"NoColumns", [] { return Idx(8, {4, 0}, ""); }, "bad"},
      {"Tail", [] { return Idx(8, {4, 1}, "abcde"); }, "1 bytes follow"},
      {"FewerLabels", [] { return Idx(8, {5, 1}, "abcde"); }, "4 labels"},
      {"Nan", [] { return Idx(0x0d, {4, 1}, Times("\x7f\xc0\1\1", 4)); }, "byte 12"},
      {"UnknownType", [] { return Idx(0x0a, {4, 1}, "abcd"); }, "no IDX file"},
      {"LabelsAsImages", [] { return Idx(8, {4}, "abcd"); }, "bad"},
  };
}

INSTANTIATE_TEST_SUITE_P(Idx, HostileImages, testing::ValuesIn(Images()),
                         [](const auto& one) { return one.param.name; });

TEST(HostileData, MayBeAPipeOrADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  ExpectRefused(RunProgram({"train", "pipe", "--quiet"}, folder.path()),
                "pipe: is a pipe that no program writes to");
  for (const char* device : {"/dev/zero", "/dev/null"}) {
    ExpectRefused(RunProgram({"train", device, "--quiet"}, folder.path()), "is a device");
  }
}

TEST(HostileData, NamesNoFileThatATerminalObeys) {
  const TemporaryFolder folder;
  const Finished finished = RunProgram({"train", "\x1b[31mred\xc2\x9b", "--quiet"}, folder.path());
  ExpectRefused(finished, "cannot open ?[31mred??: No such file");
}

}  // namespace
}  // namespace hogbatch
