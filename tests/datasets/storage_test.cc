#include "datasets/encoding/storage.h"

#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

TEST(Storage, IsSparseWhenThatIsSmaller) {
  // 10 rows of 100 features: 4000 bytes dense; sparse 80 and 8 a non-zero.
  EXPECT_EQ(SmallerStorage(10, 100, 489), Storage::kSparse);
  EXPECT_EQ(SmallerStorage(10, 100, 490), Storage::kDense);
}

TEST(Storage, ComparesSizesBeyond64Bits) {
  const std::int64_t large = std::int64_t{1} << 31;
  EXPECT_EQ(SmallerStorage(large, large, large), Storage::kSparse);
}

TEST(Storage, ConvertsThereAndBack) {
  const Dataset sparse = InOrder("1 90:1 10:2 50:4\n0 100:1\n0\n");
  ASSERT_TRUE(sparse.is_sparse);
  Dataset data = sparse;
  ConvertStorage(data, Storage::kDense);
  EXPECT_FALSE(data.is_sparse);
  EXPECT_EQ(data.dense.size(), 300U);
  EXPECT_TRUE(data.values.empty());
  ConvertStorage(data, Storage::kSparse);
  EXPECT_EQ(data.offsets, sparse.offsets);
  EXPECT_EQ(data.columns, sparse.columns);
  EXPECT_EQ(data.values, sparse.values);
  EXPECT_TRUE(data.dense.empty());
}

TEST(Storage, CountsItsBytes) {
  const Dataset data = InOrder("1 90:1\n0 100:1\n");
  EXPECT_EQ(data.bytes(), 3 * 8 + 2 * 8 + 2 * 4);
}

TEST(Storage, RefusesDenseRowsThatTakeMoreThanHalfTheMemory) {
  Dataset data;
  data.source = "in.txt";
  data.is_sparse = true;
  data.rows = data.features = std::int64_t{1} << 31;
  EXPECT_TRUE(Begins(ErrorOf([&] { ConvertStorage(data, Storage::kDense); }),
                     "in.txt: the rows would take"));
}

}  // namespace
}  // namespace hogbatch
