#include "training/cache/data_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "core/error.h"
#include "core/guard/mapped_faults.h"
#include "datasets/synthetic.h"
#include "tests/support/process.h"
#include "tests/support/same_rows.h"
#include "training/cache/cache_format.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

class DataCacheTest : public testing::Test {
 protected:
  DataCacheTest() : cache_(folder_.path() + "/cache") {}

  std::string Big(const std::string& name, int columns = 3) const {
    std::string rows;
    while (rows.size() < (std::size_t{5} << 20)) {
      for (int i = 0; i < columns; ++i) rows += std::to_string(rows.size() % 97 + i) + ",";
      rows += rows.size() % 2 ? "a\n" : "b\n";
    }
    return folder_.path() + "/" + folder_.Write(name, rows);
  }
  std::string File(const std::string& key) const {
    return folder_.path() + "/cache/" + key + ".data";
  }
  TemporaryFolder folder_;
  DataCache cache_;
};

void ExpectSame(const TrainingData& a, const TrainingData& b) {
  ExpectSameRows(a.data, b.data);
  EXPECT_EQ(a.data.notes, b.data.notes);
  EXPECT_EQ(a.data.source, b.data.source);
  EXPECT_EQ(a.train_rows, b.train_rows);
  EXPECT_EQ(SchemaToJson(a.schema), SchemaToJson(b.schema));
}

TEST_F(DataCacheTest, GivesBackWhatWasStored) {
  const TrainingData dense = ReadTrainingData(Big("rows"), {});
  cache_.Store("dense", dense);
  const auto again = cache_.Load("dense", 0);
  ASSERT_TRUE(again);
  ExpectSame(*again, dense);
  for (const LabelKind kind : {LabelKind::kClass, LabelKind::kMultiLabel, LabelKind::kValue}) {
    const TrainingData sparse = MakeSynthetic({.rows = 50,
                                               .features = 30,
                                               .nonzeros = 4,
                                               .classes = kind == LabelKind::kValue ? 1 : 3,
                                               .label_kind = kind});
    cache_.Store("sparse", sparse);
    const auto loaded = cache_.Load("sparse", 0);
    ASSERT_TRUE(loaded);
    ExpectSame(*loaded, sparse);
  }
}

TEST_F(DataCacheTest, KeepsWeightsAndMapsArraysUntilTheyChange) {
  TrainingData data = MakeSynthetic({.rows = 50, .features = 3});
  data.data.weights = std::vector<float>(50, 2.0f);
  cache_.Store("key", data);
  auto loaded = cache_.Load("key", 0);
  ASSERT_TRUE(loaded);
  ExpectSame(*loaded, data);
  EXPECT_TRUE(loaded->data.dense.is_mapped());
  EXPECT_EQ(loaded->data.bytes(), 0);
  loaded->data.dense[0] = 7;
  EXPECT_FALSE(loaded->data.dense.is_mapped());
  EXPECT_EQ(loaded->data.dense[0], 7);
  ExpectSame(*cache_.Load("key", 0), data);
}

TEST_F(DataCacheTest, TellsOfRowsThatAreLostWhileTheyAreMappedAndForgetsTheFile) {
  cache_.Store("key", MakeSynthetic({.rows = 5000, .features = 3}));
  const auto loaded = cache_.Load("key", 0);
  ASSERT_TRUE(loaded);
  const Dataset& data = loaded->data;
  std::filesystem::resize_file(File("key"), 4096);
  EXPECT_EQ(data.dense.back(), 0);
  EXPECT_FALSE(IsReadable(data));
  EXPECT_THROW(RequireReadable(data), MappingLost);
  EXPECT_FALSE(cache_.Load("key", 0));
  EXPECT_FALSE(std::filesystem::exists(File("key")));
}

TEST_F(DataCacheTest, IsNotUsedForAnotherFileOrOtherOptions) {
  const std::string path = Big("rows");
  const auto key = DataKey(path, {});
  ASSERT_TRUE(key);
  EXPECT_EQ(DataKey(path, {}), key);
  EXPECT_NE(DataKey(path, {.seed = 2}), key);
  EXPECT_NE(DataKey(path, {.label = "first"}), key);
  EXPECT_NE(DataKey(path, {.weight = "2"}), key);
  std::ofstream(path, std::ios::app) << "1,2,3,a\n";
  EXPECT_NE(DataKey(path, {}), key);
  EXPECT_FALSE(DataKey("", {}));
  EXPECT_FALSE(DataKey("-", {}));
  EXPECT_FALSE(DataKey(folder_.path() + "/" + folder_.Write("small", "1,2\n"), {}));
  EXPECT_FALSE(cache_.Load(*key, 0));
}

TEST_F(DataCacheTest, IsRemovedIfItIsDamaged) {
  const TrainingData data = MakeSynthetic({.rows = 200, .features = 10});
  cache_.Store("key", data);
  const std::string whole = folder_.Read("cache/key.data");
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    folder_.Write("cache/key.data", damaged);
    const auto loaded = cache_.Load("key", 0);
    if (loaded) {
      ExpectSame(*loaded, data);  // bytes between arrays mean nothing
    } else {
      EXPECT_FALSE(folder_.Has("cache/key.data"));
    }
  }
  folder_.Write("cache/key.data", whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(cache_.Load("key", 0));
  folder_.Write("cache/other.data", whole);
  EXPECT_FALSE(cache_.Load("other", 0)) << "a file of another key";
}

TEST_F(DataCacheTest, IsMadeAgainIfItsFormatIsNewer) {
  const TrainingData data = MakeSynthetic({.rows = 50, .features = 3});
  cache_.Store("key", data);
  std::string newer = folder_.Read("cache/key.data");
  const std::string format = fmt::format(R"("format":{})", kCacheFormat);
  const std::size_t place = newer.find(format);
  ASSERT_NE(place, std::string::npos);
  newer[place + format.size() - 1] = '9';
  folder_.Write("cache/key.data", newer);
  EXPECT_THROW(CacheKey(std::as_bytes(std::span(newer))), UserError);
  EXPECT_FALSE(cache_.Load("key", 0));
  cache_.Store("key", data);
  const auto again = cache_.Load("key", 0);
  ASSERT_TRUE(again);
  ExpectSame(*again, data);
}

TEST_F(DataCacheTest, IsDoneWithoutWhereItCannotBeWritten) {
  const DataCache nowhere("/proc/nowhere");
  nowhere.Store("key", MakeSynthetic({}));
  EXPECT_FALSE(nowhere.Load("key", 0));
}

}  // namespace
}  // namespace hogbatch
