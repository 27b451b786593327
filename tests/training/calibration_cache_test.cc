#include "training/calibration/calibration_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/support/detected_devices.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

const Rates kRates = {.at = {{16, 100.5}, {32, 180}}, .limit = 40, .settled = true};

class Cache : public testing::Test {
 protected:
  CalibrationCache cache() const { return CalibrationCache(folder_.path()); }
  void Damage(const std::string& content) const { folder_.Write("calibration.json", content); }

  TemporaryFolder folder_;
};

TEST_F(Cache, GivesBackWhatItWasGivenByKey) {
  cache().Save("one", kRates);
  Rates other = kRates;
  other.limit = 32;
  cache().Save("two", other);
  const std::optional<Rates> one = cache().Load("one");
  ASSERT_TRUE(one);
  ASSERT_EQ(one->at.size(), 2);
  EXPECT_EQ(one->at[0].rows, 16);
  EXPECT_EQ(one->at[0].rows_per_second, 100.5);
  EXPECT_EQ(one->limit, 40);
  EXPECT_TRUE(one->settled);
  EXPECT_EQ(cache().Load("two")->limit, 32);
  EXPECT_FALSE(cache().Load("three"));
}

TEST_F(Cache, MakesItsFolder) {
  const CalibrationCache below(folder_.path() + "/a/b");
  below.Save("one", kRates);
  EXPECT_TRUE(below.Load("one"));
}

TEST_F(Cache, IgnoresWhatItCannotHaveWritten) {
  for (const char* content :
       {"",
        "{",
        "[]",
        "7",
        "\"one\"",
        "\xff\xfe",
        R"({"one": 5})",
        R"({"one": {}})",
        R"({"one": {"limit": 64, "settled": true, "rates": []}})",
        R"({"one": {"limit": 64, "settled": true, "rates": 3}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [16, 100]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[16]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [["16", 100]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[0, 100]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[-16, 100]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[16, 0]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[16, -1]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[16, 1e999]]}})",
        R"({"one": {"limit": 64, "settled": true, "rates": [[32, 9], [16, 8]]}})",
        R"({"one": {"limit": 8, "settled": true, "rates": [[16, 100]]}})",
        R"({"one": {"limit": 9000000000, "settled": true, "rates": [[5000000000, 100]]}})",
        R"({"one": {"settled": true, "rates": [[16, 100]]}})",
        R"({"one": {"limit": 64, "settled": 1, "rates": [[16, 100]]}})"}) {
    Damage(content);
    EXPECT_FALSE(cache().Load("one")) << content;
    cache().Save("one", kRates);
    EXPECT_TRUE(cache().Load("one")) << content;
  }
}

TEST_F(Cache, LeavesAFileOfANewerOrUnknownFormatAlone) {
  for (const char* format : {"2", "\"1\"", "null", "1.5"}) {
    const std::string content = R"({"format": )" + std::string(format) +
                                R"(, "one": {"limit": 64, "settled": true, "rates": [[16, 100]]}})";
    Damage(content);
    EXPECT_FALSE(cache().Load("one")) << format;
    cache().Save("one", kRates);
    EXPECT_EQ(folder_.Read("calibration.json"), content);
  }
}

TEST_F(Cache, ReadsAFileWithoutFormatAndGivesItOne) {
  Damage(R"({"one": {"limit": 64, "settled": true, "rates": [[16, 100]]}})");
  EXPECT_TRUE(cache().Load("one"));
  cache().Save("two", kRates);
  EXPECT_EQ(ValueOf(folder_.Read("calibration.json"), "format"), "1");
  EXPECT_TRUE(cache().Load("one"));
}

TEST_F(Cache, ForgetsAFileThatGrewTooLarge) {
  Damage(R"({"one": {"limit": 64, "settled": true, "rates": [[16, 100]]}, "x": ")" +
         std::string(1 << 20, 'x') + "\"}");
  EXPECT_FALSE(cache().Load("one"));
  cache().Save("two", kRates);
  EXPECT_TRUE(cache().Load("two"));
}

TEST_F(Cache, DoesWithoutAFolder) {
  folder_.Write("file", "");
  for (const CalibrationCache& cache :
       {CalibrationCache(std::nullopt), CalibrationCache(folder_.path() + "/file"),
        CalibrationCache("/proc/nowhere")}) {
    EXPECT_NO_THROW(cache.Save("one", kRates));
    EXPECT_FALSE(cache.Load("one"));
  }
}

TEST_F(Cache, TakesAnyName) {
  EXPECT_NO_THROW(cache().Save("a GPU of \xff\xfe", kRates));
  cache().Save("one", kRates);
  EXPECT_TRUE(cache().Load("one"));
}

Dataset SparseRows(std::int64_t rows, std::size_t entries) {
  Dataset data{.source = "made up", .rows = rows, .features = 100, .is_sparse = true};
  data.columns.resize(entries);
  return data;
}

TEST(CalibrationKey, TellsApartWhatTakesAnotherTime) {
  const DeviceInfo gpu = CudaGpu("cuda.0", "");
  const ModelSpec spec{.inputs = 100, .hidden = {20, 30}, .outputs = 5};
  const Dataset dense;
  std::set<std::string> keys = {CalibrationKey(gpu, spec, dense, {}, 0, 128)};
  const auto is_new = [&](const std::string& key) { return keys.insert(key).second; };

  DeviceInfo other = gpu;
  other.description = "NVIDIA V100";
  EXPECT_TRUE(is_new(CalibrationKey(other, spec, dense, {}, 0, 128)));
  other = gpu;
  other.memory_bytes /= 2;
  EXPECT_TRUE(is_new(CalibrationKey(other, spec, dense, {}, 0, 128)));
  other = gpu;
  other.kind = DeviceKind::kOpenCl;
  EXPECT_TRUE(is_new(CalibrationKey(other, spec, dense, {}, 0, 128)));
  ModelSpec wider = spec;
  wider.hidden = {20, 31};
  EXPECT_TRUE(is_new(CalibrationKey(gpu, wider, dense, {}, 0, 128)));
  EXPECT_TRUE(is_new(CalibrationKey(gpu, spec, SparseRows(10, 100), {}, 0, 128)));
  EXPECT_TRUE(is_new(CalibrationKey(gpu, spec, SparseRows(10, 200), {}, 0, 128)));
  EXPECT_TRUE(is_new(CalibrationKey(gpu, spec, dense, {.optimizer = "adam"}, 0, 128)));
  EXPECT_TRUE(is_new(CalibrationKey(gpu, spec, dense, {.weight_decay = 0.1}, 0, 128)));
  EXPECT_TRUE(is_new(CalibrationKey(gpu, spec, dense, {}, 0.5, 128)));
  EXPECT_TRUE(is_new(CalibrationKey(gpu, spec, dense, {}, 0, 1)));
}

TEST(CalibrationKey, IsTheSameForGpusAndRowsOfAKind) {
  const ModelSpec spec{.inputs = 100, .hidden = {}, .outputs = 5};
  EXPECT_EQ(
      CalibrationKey(CudaGpu("cuda.0", "0000:01:00.0"), spec, SparseRows(1000, 11900), {}, 0, 128),
      CalibrationKey(CudaGpu("cuda.1", "0000:02:00.0"), spec, SparseRows(900, 10845), {}, 0, 128));
  DeviceInfo later = Pocl("opencl.0");
  later.memory_bytes -= 1'000'000;  // it is the host's, and others use it, too
  EXPECT_EQ(CalibrationKey(Pocl("opencl.0"), spec, Dataset(), {}, 0, 128),
            CalibrationKey(later, spec, Dataset(), {}, 0, 128));
}

}  // namespace
}  // namespace hogbatch
