#include "core/guard/small_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

TEST(SmallFile, IsReadUpToItsLimit) {
  const std::string path = testing::TempDir() + "hogbatch_small_file";
  std::ofstream(path) << "text";
  EXPECT_EQ(ReadSmallFile(path, 4), "text");
  EXPECT_EQ(ReadSmallFile(path, 3), std::nullopt);
  EXPECT_EQ(ReadSmallFile(path + ".none", 4), std::nullopt);
  EXPECT_GT(ReadSmallFile("/proc/self/status", 1 << 20).value_or("").size(), 100u)
      << "it says that it is empty";
  fs::remove(path);
}

TEST(SmallFile, TakesNoMemoryForASparseFile) {
  const std::string path = testing::TempDir() + "hogbatch_sparse_file";
  std::ofstream(path).close();
  fs::resize_file(path, std::uintmax_t{1} << 42);
  EXPECT_EQ(ReadSmallFile(path, 1 << 20), std::nullopt);
  fs::remove(path);
}

}  // namespace
}  // namespace hogbatch
