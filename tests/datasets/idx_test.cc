#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>

#include "datasets/readers/idx_reader.h"
#include "tests/datasets/packing.h"
#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

std::string BigEndian(std::uint64_t bits, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(bits >> (8 * i) & 0xff);
  return text;
}

std::string Header(int type, const std::vector<std::uint32_t>& sizes) {
  std::string header = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) header += BigEndian(size, 4);
  return header;
}

std::string BytesOf(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += static_cast<char>(number);
  return text;
}

// Four images of 1 × 3 pixels and their labels.
std::string Images() {
  return Header(8, {4, 1, 3}) + BytesOf({0, 255, 0, 1, 0, 0, 0, 0, 2, 9, 9, 9});
}
std::string Labels4() { return Header(8, {4}) + BytesOf({7, 3, 7, 3}); }

TrainingData LearnIdx(const std::string& images, const std::string& labels,
                      const ReadOptions& options = {}) {
  return ReadTrainingText(InputFromBytes(images, labels, "in"), options,
                          {.threads = 2, .chunk_bytes = 4});
}

Dataset InFileOrder(const std::string& images, const std::string& labels) {
  const ReadOptions options{.scaling = ScalingKind::kNone};
  return ReadTextWithSchema(InputFromBytes(images, labels, "in"),
                            LearnIdx(images, labels, options).schema, Labels::kRequired, {},
                            {.threads = 2});
}

std::string IdxError(const std::string& images, const std::string& labels) {
  return ErrorOf([&] { LearnIdx(images, labels); });
}

TEST(Idx, RowsAndLabelsComeFromTwoFiles) {
  const Dataset data = InFileOrder(Images(), Labels4());
  EXPECT_EQ(data.rows, 4);
  EXPECT_EQ(data.features, 3);
  EXPECT_EQ(DenseRow(data, 0), (Rows{0, 255, 0}));
  EXPECT_EQ(DenseRow(data, 3), (Rows{9, 9, 9}));
  EXPECT_EQ(data.classes, (std::vector<std::int32_t>{1, 0, 1, 0}));
  EXPECT_EQ(LearnIdx(Images(), Labels4()).schema.format, FileFormat::kIdx);
}

TEST(Idx, ReadsEveryTypeOfNumber) {
  const auto row = [](int type, const std::string& numbers) {
    return DenseRow(InFileOrder(Header(type, {2, 2}) + numbers, Header(8, {2}) + BytesOf({0, 1})),
                    0);
  };
  EXPECT_EQ(row(0x08, BytesOf({200, 1, 0, 0})), (Rows{200, 1}));
  EXPECT_EQ(row(0x09, BytesOf({-2, 1, 0, 0})), (Rows{-2, 1}));
  const auto many = [](std::uint64_t first, std::uint64_t second, int bytes) {
    return BigEndian(first, bytes) + BigEndian(second, bytes) +
           std::string(static_cast<std::size_t>(2 * bytes), '\0');
  };
  EXPECT_EQ(row(0x0b, many(0xfffe, 258, 2)), (Rows{-2, 258}));
  EXPECT_EQ(row(0x0c, many(0xfffffffe, 65536, 4)), (Rows{-2, 65536}));
  EXPECT_EQ(
      row(0x0d, many(std::bit_cast<std::uint32_t>(1.5f), std::bit_cast<std::uint32_t>(-0.25f), 4)),
      (Rows{1.5f, -0.25f}));
  EXPECT_EQ(
      row(0x0e, many(std::bit_cast<std::uint64_t>(1.5), std::bit_cast<std::uint64_t>(-8.0), 8)),
      (Rows{1.5f, -8}));
}

TEST(Idx, PixelsShareOneScaleThatKeepsZeros) {
  const TrainingData read = LearnIdx(Images(), Labels4(), {.valid_fraction = 0});
  EXPECT_EQ(read.schema.scaling, ScalingKind::kMaxAbs);
  EXPECT_EQ(read.schema.shift, (Rows{0, 0, 0}));
  EXPECT_EQ(read.schema.scale, Rows(3, 1.0f / 255));
  // The columns of a table have units of their own.
  const TrainingData table = LearnIdx(Header(8, {4, 1}) + BytesOf({1, 2, 3, 4}), Labels4());
  EXPECT_EQ(table.schema.scaling, ScalingKind::kStandard);
}

TEST(Idx, LabelsOfNumbersBecomeValues) {
  std::string labels = Header(0x0d, {4});
  for (const float y : {0.5f, 1.5f, 2.25f, -1.0f}) {
    labels += BigEndian(std::bit_cast<std::uint32_t>(y), 4);
  }
  EXPECT_EQ(LearnIdx(Images(), labels).schema.label_kind, LabelKind::kValue);
}

TEST(Idx, RefusesDamageWithFileAndByte) {
  const std::string images = Images();
  EXPECT_EQ(IdxError(images.substr(0, 9), Labels4()),
            "in: byte 9: the IDX file ends within its header, which has 3 sizes; download or copy "
            "it again");
  EXPECT_EQ(IdxError(images.substr(0, images.size() - 4), Labels4()),
            "in: byte 24: the IDX file ends after 2 of 4 rows; download or copy it again");
  EXPECT_EQ(IdxError(images + "xy", Labels4()),
            "in: byte 28: 2 bytes follow the 4 rows of the header; the IDX file is damaged");
  EXPECT_THAT(IdxError(Header(8, {4, 0, 3}), Labels4()),
              HasSubstr("in: byte 8: size 2 of the IDX"));
  EXPECT_THAT(IdxError(Header(8, {4, 0xffffffff, 0xffffffff}), Labels4()),
              HasSubstr("in: byte 8: size 2 of the IDX file is 4294967295"));
  EXPECT_THAT(IdxError(Header(8, {0xffffffff, 0x7fff, 0x7fff}), Labels4()),
              HasSubstr("more than 2^31 rows"));
  EXPECT_THAT(IdxError(Header(8, {0x7fffffff, 0x7fff, 0x7fff}), Labels4()),
              HasSubstr("ends after 0 of 2147483647 rows"));
  EXPECT_THAT(IdxError(Header(8, {0, 2}), Labels4()), HasSubstr("in: the file has no rows"));
  const std::string nan =
      BigEndian(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()), 4);
  EXPECT_THAT(IdxError(Header(0x0d, {1, 2}) + BigEndian(0, 4) + nan, Header(8, {1}) + "\1"),
              HasSubstr("in: byte 16: the number is not finite"));
  EXPECT_THAT(IdxError(images, Header(0x0d, {4}) + nan + nan + nan + nan),
              HasSubstr("in labels: byte 8: the label is not finite"));
}

TEST(Idx, RefusesLabelsOfOtherRows) {
  EXPECT_THAT(IdxError(Images(), Header(8, {3}) + BytesOf({1, 2, 3})),
              HasSubstr("in labels: holds 3 labels, but in has 4 rows"));
  EXPECT_THAT(IdxError(Images(), Images()), HasSubstr("in labels: holds 3 numbers a row"));
  EXPECT_THAT(IdxError(Images(), "1 2 3"), HasSubstr("in labels: byte 0: this is no IDX file"));
  EXPECT_THAT(IdxError(Labels4(), Labels4()), HasSubstr("in: holds one number a row"));
  EXPECT_THAT(ErrorOf([] { LearnIdx(Images(), Labels4(), {.label = "first"}); }),
              HasSubstr("leave out --label first"));
}

TEST(Idx, AModelReadsRowsOfItsOwnSizeWithOrWithoutLabels) {
  const Schema schema = LearnIdx(Images(), Labels4()).schema;
  const auto read = [&](const std::string& images, Labels labels) {
    return ReadTextWithSchema(InputFromBytes(images, "in"), schema, labels, {}, {.threads = 1});
  };
  EXPECT_EQ(read(Images(), Labels::kOptional).rows, 4);
  EXPECT_THAT(ErrorOf([&] { read(Images(), Labels::kRequired); }), HasSubstr("in: the row has no"));
  EXPECT_THAT(ErrorOf([&] { read(Header(8, {1, 2}) + "ab", Labels::kOptional); }),
              HasSubstr("its rows have 2 numbers, but the model was trained on rows of 3"));
  EXPECT_THAT(ErrorOf([&] { read("1 1:2\n", Labels::kOptional); }),
              HasSubstr("this is a LIBSVM file, but the model was trained on IDX"));
  const std::string unknown = Header(8, {4}) + BytesOf({7, 3, 7, 5});
  EXPECT_THAT(ErrorOf([&] {
                ReadTextWithSchema(InputFromBytes(Images(), unknown, "in"), schema,
                                   Labels::kRequired, {}, {.threads = 1});
              }),
              HasSubstr("in labels: byte 11: label '5' is not one the model knows"));
}

TEST(Idx, FindsTheLabelsByTheirName) {
  const std::filesystem::path folder(testing::TempDir() + "hogbatch_idx_" +
                                     std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  };
  const std::string images = write("train-images-idx3-ubyte.gz", PackGzip(Images()));
  EXPECT_THAT(ErrorOf([&] { ReadTrainingData(images, {}); }),
              HasSubstr("/train-labels-idx1-ubyte is not there; name it with --labels"));
  write("train-labels-idx1-ubyte", Labels4());
  EXPECT_EQ(ReadTrainingData(images, {}).data.rows, 4);
  write("valid-labels-idx1-ubyte.zst", Labels4());  // its content says that it is not compressed
  EXPECT_EQ(ReadTrainingData(write("valid-images-idx3-ubyte.bz2", Images()), {}).data.rows, 4);
  const std::string other = write("t10k", Images());
  const std::string labels = write("answers.xz", PackXz(Labels4()));
  EXPECT_THAT(ErrorOf([&] { ReadTrainingData(other, {}); }), HasSubstr("name it with --labels"));
  EXPECT_EQ(ReadTrainingData(other, {.labels = labels}).data.rows, 4);
  EXPECT_THAT(ErrorOf([&] { ReadTrainingData(labels, {}); }), HasSubstr("holds one number a row"));
  const std::string text = write("rows.svm", "1 1:2\n0 1:3\n");
  EXPECT_THAT(ErrorOf([&] { ReadTrainingData(text, {.labels = labels}); }),
              HasSubstr("this is no IDX file and contains its labels; leave out --labels"));
  std::filesystem::remove_all(folder);
}

TEST(Idx, AnyChangeOfOneByteOrLengthIsReadOrRefused) {
  const auto try_both = [](const std::string& images, const std::string& labels) {
    try {
      const TrainingData read = LearnIdx(images, labels);
      EXPECT_LE(read.data.rows * read.data.features,
                static_cast<std::int64_t>(images.size() + labels.size()));
    } catch (const UserError&) {
    }
  };
  const std::string images = Images();
  const std::string labels = Labels4();
  for (std::size_t i = 0; i < images.size(); ++i) {
    try_both(images.substr(0, i + 1), labels);
    if (i < labels.size()) try_both(images, labels.substr(0, i + 1));
    for (const int byte : {0, 1, 2, 4, 8, 9, 11, 12, 13, 14, 127, 128, 255}) {
      std::string changed = images;
      changed[i] = static_cast<char>(byte);
      try_both(changed, labels);
      if (i >= labels.size()) continue;
      changed = labels;
      changed[i] = static_cast<char>(byte);
      try_both(images, changed);
    }
  }
}

}  // namespace
}  // namespace hogbatch
