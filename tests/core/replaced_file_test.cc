#include "core/replaced_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

class ReplacedFileTest : public testing::Test {
 protected:
  ReplacedFileTest() {
    std::string name = (fs::temp_directory_path() / "hogbatch.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ReplacedFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t Files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  std::string folder_;
};

TEST_F(ReplacedFileTest, TakesItsPlaceWhole) {
  ReplaceFile(Path("a"), "old");
  ReplaceFile(Path("a"), "new");
  EXPECT_EQ(Read(Path("a")), "new");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplacedFileTest, LeavesTheOldOneWhenItIsNotCommitted) {
  ReplaceFile(Path("a"), "old");
  {
    ReplacedFile file(Path("a"));
    file.Write(std::as_bytes(std::span(std::string_view("half"))));
  }
  EXPECT_EQ(Read(Path("a")), "old");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplacedFileTest, FollowsALink) {
  ReplaceFile(Path("real"), "old");
  fs::create_symlink(Path("real"), Path("link"));
  ReplaceFile(Path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Read(Path("real")), "new");
}

TEST_F(ReplacedFileTest, WritesIntoADeviceInsteadOfReplacingIt) {
  fs::create_symlink("/dev/full", Path("device"));
  EXPECT_THROW(ReplaceFile(Path("device"), "text"), Error);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  ReplaceFile("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReplacedFileTest, SaysWhereItCannotWrite) {
  try {
    ReplaceFile(Path("missing/a"), "text");
    FAIL() << "written into a folder that is not there";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("missing/a"), std::string::npos);
  }
}

}  // namespace
}  // namespace hogbatch
