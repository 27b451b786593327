// What others put in the place of the program's files: nothing is written through it, and nothing
// waits for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/files.h"
#include "core/error.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using Arguments = std::vector<std::string>;

// Names of all plain files below a folder.
std::set<std::string> FilesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.symlink_status().type() == fs::file_type::regular) {
      names.insert(fs::relative(entry.path(), folder).string());
    }
  }
  return names;
}

// A command that writes files of its own choice into the folder "o", which has the data.
class Planted : public testing::TestWithParam<Arguments> {
 protected:
  void SetUp() override {
    fs::create_directory(victims_);
    MakeFolder();
    // A first run shows which files there will be.
    ASSERT_EQ(Run().exit_code, 0);
    names_ = FilesIn(out_);
    names_.erase(".lock");  // held rather than replaced
    names_.erase("rows.svm");
    ASSERT_GE(names_.size(), 2u);
    fs::remove_all(out_);
    MakeFolder();
  }

  void MakeFolder() const {
    fs::create_directory(out_);
    folder_.Write("o/rows.svm", TwoClasses(40));
  }

  Finished Run() const { return RunProgram(GetParam(), folder_.path()); }

  std::string Victim(const std::string& name) const {
    const std::string victim = victims_ + "/" + fs::path(name).filename().string();
    folder_.Write("victims/" + fs::path(name).filename().string(), "precious");
    return victim;
  }

  // Each file is the program's own, and no victim was touched.
  void ExpectOwnFiles(const Finished& finished) const {
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    for (const std::string& name : names_) {
      EXPECT_EQ(fs::symlink_status(out_ + "/" + name).type(), fs::file_type::regular) << name;
    }
    for (const std::string& name : FilesIn(victims_)) {
      EXPECT_EQ(folder_.Read("victims/" + name), "precious") << name;
    }
  }

  TemporaryFolder folder_;
  const std::string out_ = folder_.path() + "/o";
  const std::string victims_ = folder_.path() + "/victims";
  std::set<std::string> names_;
};

TEST_P(Planted, LinksAreReplacedAndTheirTargetsStay) {
  for (const std::string& name : names_) {
    fs::create_directories(fs::path(out_ + "/" + name).parent_path());
    fs::create_symlink(Victim(name), out_ + "/" + name);
  }
  ExpectOwnFiles(Run());
}

TEST_P(Planted, SecondNamesOfOtherFilesAreReplaced) {
  for (const std::string& name : names_) {
    fs::create_directories(fs::path(out_ + "/" + name).parent_path());
    fs::create_hard_link(Victim(name), out_ + "/" + name);
  }
  ExpectOwnFiles(Run());
}

TEST_P(Planted, PipesAreReplacedAndNotWaitedFor) {
  for (const std::string& name : names_) {
    fs::create_directories(fs::path(out_ + "/" + name).parent_path());
    ASSERT_EQ(::mkfifo((out_ + "/" + name).c_str(), 0600), 0);
  }
  ExpectOwnFiles(Run());
}

INSTANTIATE_TEST_SUITE_P(
    Files, Planted,
    testing::Values(Arguments{"train", "o/rows.svm", "--epochs", "1", "--hidden", "3", "--devices",
                              "cpu:1", "--out", "o", "--tensorboard", "--report"},
                    Arguments{"export", "o/rows.svm", "--hidden", "3", "--out", "o"},
                    Arguments{"data", "split", "o/rows.svm"}),
    [](const auto& one) { return one.param.front(); });

class Links : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("data", TwoClasses(40));
    folder_.Write("victim", "precious");
    ASSERT_EQ(Train({}).exit_code, 0);
  }
  Finished Train(const Arguments& more) const {
    Arguments arguments = {"train", "data",      "--epochs", "1",     "--hidden",
                           "3",     "--devices", "cpu:1",    "--out", "o"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments, folder_.path());
  }
  Finished Resume() const {
    return RunProgram({"train", "--resume", "o", "--epochs", "2"}, folder_.path());
  }
  // In the place of o/NAME.
  void Plant(const std::string& name) const {
    fs::remove_all(folder_.path() + "/o/" + name);
    fs::create_symlink(folder_.path() + "/victim", folder_.path() + "/o/" + name);
  }
  TemporaryFolder folder_;
};

TEST_F(Links, InPlaceOfTheLockAreRefused) {
  Plant(".lock");
  const Finished finished = Train({});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("o/.lock is a link"));
  EXPECT_EQ(folder_.Read("victim"), "precious");
}

TEST_F(Links, InPlaceOfTheRecordAreNotFollowedByAResumedRun) {
  Plant("metrics.jsonl");
  const Finished finished = Resume();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(folder_.Read("victim"), "precious");
  EXPECT_FALSE(fs::is_symlink(folder_.path() + "/o/metrics.jsonl"));
}

TEST_F(Links, InPlaceOfTheFolderOfCheckpointsAreRefusedByAResumedRun) {
  fs::rename(folder_.path() + "/o/checkpoints", folder_.path() + "/elsewhere");
  fs::create_directory_symlink(folder_.path() + "/elsewhere", folder_.path() + "/o/checkpoints");
  const Finished finished = Resume();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("o/checkpoints is a link"));
}

TEST_F(Links, InPlaceOfTheFolderOfCheckpointsAreReplacedByANewRun) {
  const std::string elsewhere = folder_.path() + "/elsewhere";
  const std::string checkpoints = folder_.path() + "/o/checkpoints";
  fs::rename(checkpoints, elsewhere);
  const std::set<std::string> before = FilesIn(elsewhere);
  fs::create_directory_symlink(elsewhere, checkpoints);
  EXPECT_EQ(Train({}).exit_code, 0);
  EXPECT_EQ(fs::symlink_status(checkpoints).type(), fs::file_type::directory);
  EXPECT_EQ(FilesIn(elsewhere), before);
}

TEST_F(Links, InPlaceOfTheFoldersOfASweepAreRefused) {
  const std::string elsewhere = folder_.path() + "/elsewhere";
  fs::create_directory(elsewhere);
  folder_.Write("elsewhere/1.safetensors", "precious");
  for (const std::string name : {"trials", "members", "ensemble"}) {
    const std::string link = folder_.path() + "/s/" + name;
    fs::create_directories(folder_.path() + "/s");
    fs::create_directory_symlink(elsewhere, link);
    const Finished finished = Train({"--ensemble", "2", "--out", "s"});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr("s/" + name + " is a link"));
    EXPECT_EQ(FilesIn(elsewhere), std::set<std::string>{"1.safetensors"});
    fs::remove(link);
  }
}

TEST_F(Links, InPlaceOfTheFolderOfAJobAreRefused) {
  const std::string link = folder_.path() + "/job";
  fs::create_directory_symlink("o", link);
  EXPECT_THROW(MakeOutputFolder(link, NamedBy::kProgram), UserError);
  EXPECT_EQ(MakeOutputFolder(link), link);
}

TEST_F(Links, InPlaceOfTheFolderOfARunOfAComparisonAreNotFollowed) {
  const std::string compared = folder_.path() + "/c";
  fs::create_directories(compared);
  fs::create_directory_symlink(folder_.path() + "/o", compared + "/export");
  const Finished finished = RunProgram({"compare", "data", "--out", "c"}, folder_.path());
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("c/export is a link"));
  EXPECT_FALSE(fs::exists(compared + "/.lock"));
}

TEST_F(Links, ThatTheUserNamesAreFollowed) {
  fs::create_symlink("victim", folder_.path() + "/link");
  fs::create_directory_symlink("o", folder_.path() + "/folder");
  EXPECT_EQ(RunProgram({"predict", "o/model.safetensors", "data", "--out", "link"}, folder_.path())
                .exit_code,
            0);
  EXPECT_TRUE(fs::is_symlink(folder_.path() + "/link"));
  EXPECT_NE(folder_.Read("victim"), "precious");
  EXPECT_EQ(RunProgram({"data", "split", "data", "--out-test", "link"}, folder_.path()).exit_code,
            0);
  EXPECT_TRUE(fs::is_symlink(folder_.path() + "/link"));
  EXPECT_EQ(Train({"--out", "folder"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_.path() + "/folder"));
}

}  // namespace
}  // namespace hogbatch
