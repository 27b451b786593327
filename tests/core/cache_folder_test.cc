#include "core/guard/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CacheFolder : public testing::Test {
 protected:
  CacheFolder() {
    std::string name = (fs::temp_directory_path() / "hogbatch.XXXXXX").string();
    above_ = ::mkdtemp(name.data());
    folder_ = above_ / "cache" / "hogbatch";
  }
  ~CacheFolder() override { fs::remove_all(above_); }

  void Make(fs::perms access) const {
    fs::create_directories(folder_);
    fs::permissions(folder_, access);
  }
  void ExpectUnused(const char* why) const {
    EXPECT_THAT(WhyNoCache(folder_), HasSubstr(why));
    EXPECT_FALSE(OpenCacheFolder(folder_));
  }

  fs::path above_;
  fs::path folder_;
};

TEST_F(CacheFolder, IsMadeForTheUserAlone) {
  EXPECT_EQ(WhyNoCache(folder_), "");
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_TRUE(OpenCacheFolder(folder_));
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms(0700));
  EXPECT_TRUE(OpenCacheFolder(folder_));
  EXPECT_EQ(WhyNoCache(folder_), "");
}

TEST_F(CacheFolder, LosesWhatKilledRunsLeft) {
  ASSERT_TRUE(OpenCacheFolder(folder_));
  for (const char* name : {"old.1-0.partial", "new.2-0.partial", "kept.bin"}) {
    std::ofstream(folder_ / name) << "half";
  }
  const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(folder_ / "old.1-0.partial", yesterday);
  fs::last_write_time(folder_ / "kept.bin", yesterday);
  EXPECT_TRUE(OpenCacheFolder(folder_));
  EXPECT_FALSE(fs::exists(folder_ / "old.1-0.partial"));
  EXPECT_TRUE(fs::exists(folder_ / "new.2-0.partial")) << "another run may be writing it";
  EXPECT_TRUE(fs::exists(folder_ / "kept.bin"));
}

TEST_F(CacheFolder, ThatOthersCouldOnlyReadIsClosedToThem) {
  Make(fs::perms(0755));
  EXPECT_TRUE(OpenCacheFolder(folder_));
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms(0700));
}

TEST_F(CacheFolder, ThatOthersCanWriteIsNotUsed) {
  for (const int access : {0777, 0770, 0702, 01777}) {
    Make(fs::perms(access));
    ExpectUnused("others can write into");
  }
}

TEST_F(CacheFolder, OfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  Make(fs::perms(0700));
  ASSERT_EQ(::chown(folder_.c_str(), 1, 1), 0);
  ExpectUnused("belongs to another user");
}

TEST_F(CacheFolder, ThatIsALinkOrAFileIsNotUsed) {
  fs::create_directories(folder_.parent_path());
  fs::create_directory_symlink(above_, folder_);
  ExpectUnused("is no folder");
  fs::remove(folder_);
  std::ofstream(folder_) << "text";
  ExpectUnused("is no folder");
}

}  // namespace
}  // namespace hogbatch
