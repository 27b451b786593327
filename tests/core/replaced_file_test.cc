#include "core/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "core/guard/folder.h"

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

TEST_F(ReplacedFileTest, RefusesAFolderBeforeAnythingIsWritten) {
  fs::create_directory(Path("folder"));
  fs::create_directory_symlink("folder", Path("link"));
  for (const char* name : {"folder", "folder/", "link"}) {
    EXPECT_THROW(ReplacedFile(Path(name), NamedBy::kUser), UserError) << name;
  }
  EXPECT_THROW(ReplacedFile(Path("folder")), UserError);
  ReplaceFile(Path("link"), "a link that the user did not name is replaced");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(Path("link"))));
}

// A process that has ended.
pid_t Gone() {
  const pid_t process = ::fork();
  if (process == 0) ::_exit(0);
  ::waitpid(process, nullptr, 0);
  return process;
}

TEST_F(ReplacedFileTest, OfAProgramThatIsKilledLeavesNothing) {
  const int probe = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe < 0) GTEST_SKIP() << "this file system has no files without a name";
  ::close(probe);
  const pid_t process = ::fork();
  if (process == 0) {
    ReplacedFile file(Path("a"));
    file.Write(std::as_bytes(std::span(std::string_view("half"))));
    ::_exit(0);
  }
  ::waitpid(process, nullptr, 0);
  EXPECT_EQ(Files(), 0);
}

// Another program may have the number by now; in a container, even this one.
TEST_F(ReplacedFileTest, LeftoverIsRemovedWhoeverHasItsNumber) {
  const std::string left[] = {fmt::format("a.{}-0.partial", Gone()),
                              fmt::format("a.{}-0.partial", ::getppid()),
                              fmt::format("a.{}-1.partial", ::getpid())};
  const std::string kept[] = {"film.mkv.partial", fmt::format("a.{}.partial", Gone()),
                              fmt::format("a.{}-x.partial", Gone()), "a.-1-0.partial"};
  for (const std::string& name : kept) ReplaceFile(Path(name), "text");
  for (const std::string& name : left) ReplaceFile(Path(name), "text");
  RemovePartialFiles(folder_);
  for (const std::string& name : left) EXPECT_FALSE(fs::exists(Path(name))) << name;
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(Path(name))) << name;
}

TEST_F(ReplacedFileTest, FolderIsMadeWithThoseAboveIt) {
  EXPECT_TRUE(MakeFolder(Path("a/b/c/")));
  EXPECT_FALSE(MakeFolder(Path("a/b/c")));
  EXPECT_TRUE(fs::is_directory(Path("a/b/c")));
  ReplaceFile(Path("file"), "text");
  EXPECT_THROW(MakeFolder(Path("file")), UserError);
  EXPECT_THROW(MakeFolder(Path("file/a")), UserError);
}

TEST_F(ReplacedFileTest, FolderIsNoLinkThatTheUserDidNotName) {
  MakeFolder(Path("real"));
  fs::create_directory_symlink(Path("real"), Path("link"));
  EXPECT_THROW(MakeFolder(Path("link")), UserError);
  EXPECT_FALSE(MakeFolder(Path("link"), NamedBy::kUser));
}

TEST_F(ReplacedFileTest, FollowsALinkOfTheUser) {
  ReplaceFile(Path("real"), "old");
  fs::create_symlink(Path("real"), Path("link"));
  ReplaceFile(Path("link"), "new", NamedBy::kUser);
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Read(Path("real")), "new");
}

TEST_F(ReplacedFileTest, FollowsLinksOfTheUserToAFileThatIsNotThereYet) {
  fs::create_directory(Path("folder"));
  fs::create_symlink("real", Path("folder/link"));
  fs::create_symlink("folder/link", Path("link"));
  ReplaceFile(Path("link"), "new", NamedBy::kUser);
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(fs::is_symlink(Path("folder/link")));
  EXPECT_EQ(Read(Path("folder/real")), "new");
  fs::create_symlink("loop", Path("loop"));
  EXPECT_THROW(ReplaceFile(Path("loop"), "new", NamedBy::kUser), UserError);
  EXPECT_TRUE(fs::is_symlink(Path("loop")));
}

TEST_F(ReplacedFileTest, TakesThePlaceOfALinkThatTheUserDidNotName) {
  ReplaceFile(Path("real"), "old");
  fs::create_symlink(Path("real"), Path("link"));
  ReplaceFile(Path("link"), "new");
  EXPECT_FALSE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Read(Path("link")), "new");
  EXPECT_EQ(Read(Path("real")), "old");
}

TEST_F(ReplacedFileTest, IsNotWrittenAsideIntoWhatOthersPutThere) {
  ReplaceFile(Path("real"), "old");
  const std::string aside = fmt::format("{}.{}-", Path("a"), ::getpid());
  fs::create_symlink(Path("real"), aside + "0.partial");
  fs::create_hard_link(Path("real"), aside + "1.partial");
  ASSERT_EQ(::mkfifo((aside + "2.partial").c_str(), 0600), 0);
  ReplaceFile(Path("a"), "new");
  EXPECT_EQ(Read(Path("a")), "new");
  EXPECT_EQ(Read(Path("real")), "old");
}

TEST_F(ReplacedFileTest, IsNoMoreAccessibleThanTheOneBefore) {
  ReplaceFile(Path("a"), "old");
  fs::permissions(Path("a"), fs::perms(0600));
  ReplaceFile(Path("a"), "new");
  EXPECT_EQ(fs::status(Path("a")).permissions(), fs::perms(0600));
  fs::permissions(Path("a"), fs::perms(0666));
  ReplaceFile(Path("a"), "newer");
  EXPECT_EQ(fs::status(Path("a")).permissions() & fs::perms(0022), fs::perms::none);
}

TEST_F(ReplacedFileTest, WritesIntoADeviceOfTheUserInsteadOfReplacingIt) {
  fs::create_symlink("/dev/full", Path("device"));
  EXPECT_THROW(ReplaceFile(Path("device"), "text", NamedBy::kUser), Error);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  ReplaceFile("/dev/null", "text", NamedBy::kUser);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReplacedFileTest, WritesIntoAPipeThatIsReadLater) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    read = Read(Path("pipe"));
  });
  const std::string much(1 << 20, 'x');
  ReplaceFile(Path("pipe"), much, NamedBy::kUser);
  reader.join();
  EXPECT_EQ(read, much);
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
}

TEST_F(ReplacedFileTest, DoesNotWaitForAReaderForEver) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(ReplaceFile(Path("pipe"), "text", NamedBy::kUser), UserError);
  ReplaceFile(Path("pipe"), "text");
  EXPECT_EQ(Read(Path("pipe")), "text");
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
