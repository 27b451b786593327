// The files of a queue: what it keeps of jobs, what it records, and what it finds in a folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/queue/jobs_file.h"
#include "cli/queue/kept_jobs.h"
#include "cli/queue/queue_report.h"
#include "cli/queue/watched_files.h"
#include "core/error.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::vector<std::string> NamesIn(const KeptJobs& kept) {
  std::vector<std::string> names;
  for (const JobRequest& job : kept.Read()) names.push_back(job.name);
  return names;
}

std::string At(const TemporaryFolder& folder, const std::string& name) {
  return folder.path() + "/" + name;
}

TEST(KeptJobs, HaveAllFilesInTheOrderTheyCame) {
  const TemporaryFolder folder;
  fs::create_directory(At(folder, "elsewhere"));
  folder.Write("jobs", "[[job]]\nname = \"z\"\n[[job]]\nname = \"y\"\n");
  folder.Write("one.toml", "\xEF\xBB\xBF[[job]]\nepochs = 3\n");
  folder.Write("elsewhere/one.toml", "[[job]]\nname = \"a\"\n[[job]]\nname = \"one\"\n");
  const KeptJobs kept(folder.path());
  for (const char* name : {"jobs", "one.toml", "elsewhere/one.toml"}) {
    kept.Keep(ReadJobs(At(folder, name)));
  }
  EXPECT_THAT(NamesIn(kept), ElementsAre("z", "y", "one", "a"));
  EXPECT_EQ(kept.Read()[2].spec.epochs, 3) << "the first of two with one name";
  EXPECT_THAT(NamesIn(KeptJobs(folder.path())), testing::SizeIs(4));
  kept.Clear();
  EXPECT_THAT(NamesIn(kept), IsEmpty());
}

TEST(KeptJobs, AreReadAsEarlierProgramsLeftThem) {
  const TemporaryFolder folder;
  const KeptJobs kept(folder.path());
  folder.Write(".jobs/old.toml", "[[job]]\nepochs = 2\n");
  EXPECT_THAT(NamesIn(kept), ElementsAre("old"));
}

TEST(KeptJobs, OfANewerProgramAreRefused) {
  const TemporaryFolder folder;
  const KeptJobs kept(folder.path());
  const auto read = [&] { kept.Read(); };
  folder.Write(".jobs/1.toml", "# jobs of hogbatch queue, format 2 a\n[[job]]\nname = \"a\"\n");
  EXPECT_THAT(read, ThrowsMessage<UserError>(HasSubstr("1.toml was written by a newer hogbatch")));
  folder.Write(".jobs/1.toml", "# jobs of hogbatch queue, format x\n[[job]]\nname = \"a\"\n");
  EXPECT_THAT(read, ThrowsMessage<UserError>(HasSubstr("1.toml:1 is damaged")));
}

TEST(KeptJobs, AreNotWrittenThroughALink) {
  const TemporaryFolder folder;
  fs::create_directory(At(folder, "other"));
  fs::create_directory_symlink(At(folder, "other"), At(folder, ".jobs"));
  EXPECT_THROW(KeptJobs(folder.path()), UserError);
}

// The first half of a file may be valid.
TEST(WatchedFiles, SettleBeforeTheyAreReadAndAgainWhenTheyChange) {
  const TemporaryFolder folder;
  WatchedFiles watched(folder.path());
  const std::string path = At(folder, "a.toml");
  folder.Write("a.toml", "[[job]]\n");
  folder.Write("a.txt", "no jobs");
  EXPECT_THAT(watched.Look().settled, IsEmpty());
  folder.Write("a.toml", "[[job]]\nepochs = 10\n");
  EXPECT_THAT(watched.Look().settled, IsEmpty());
  EXPECT_THAT(watched.Look().settled, ElementsAre(path));
  EXPECT_THAT(watched.Look().settled, IsEmpty());
  folder.Write("a.toml", "[[job]]\nepochs = 100\n");
  EXPECT_THAT(watched.Look().settled, IsEmpty());
  EXPECT_THAT(watched.Look().settled, ElementsAre(path));
  fs::remove(path);
  EXPECT_THAT(watched.Look().gone, ElementsAre(path));
  EXPECT_THAT(watched.Look().gone, IsEmpty());
}

TEST(WatchedFiles, StayWhileTheirFolderCannotBeRead) {
  const TemporaryFolder folder;
  fs::create_directory(At(folder, "watched"));
  folder.Write("watched/a.toml", "[[job]]\n");
  WatchedFiles watched(At(folder, "watched"));
  watched.Look();
  fs::rename(At(folder, "watched"), At(folder, "away"));
  EXPECT_THAT(watched.Look().gone, IsEmpty());
}

TEST(QueueReport, RefusesARecordThatIsDamagedOrNewer) {
  const auto parse = [](const std::string& text) {
    return [=] { ParseQueue(text, "q.json", {}); };
  };
  const auto says = [](const char* text) { return ThrowsMessage<UserError>(HasSubstr(text)); };
  const auto record = [](const std::string& format, const std::string& job) {
    return R"({"format": )" + format + R"(, "scheduler": "fifo", "jobs": [{"name": "a", )" + job +
           "}]}";
  };
  const std::string sane = R"("state": "done", "epoch": 1, "arrived": 0)";
  EXPECT_EQ(ParseQueue(record("1", sane), "q.json", {}).jobs[0].outcome, JobOutcome::kDone);
  EXPECT_THAT(parse(record("2", sane)), says("q.json was written by a newer hogbatch"));
  for (const std::string& text :
       {std::string(100'000, '['), record("1e300", sane), record("\"1\"", sane),
        record("1", R"("state": "lost", "epoch": 1, "arrived": 0)"),
        record("1", R"("state": "done", "epoch": 1, "arrived": -1e300)"),
        record("1", R"("state": "done", "epoch": 1e300, "arrived": 0)"),
        record("1", R"("state": "done", "epoch": "1", "arrived": 0)"), std::string("[1]"),
        std::string("{}")}) {
    EXPECT_THAT(parse(text), says("q.json is damaged")) << text.substr(0, 200);
  }
}

// A queue of one job on a folder whose files cannot all be written.
class QueueOnBadDisk : public testing::Test {
 protected:
  QueueOnBadDisk() { folder_.Write("data", TwoClasses(400)); }

  std::vector<std::string> Arguments(const std::string& job) const {
    folder_.Write("jobs.toml", "[[job]]\nname = \"b\"\ndata = \"data\"\nhidden = 8\n" + job);
    return {"queue", "jobs.toml", "--devices", "cpu:1", "--out", "q"};
  }

  TemporaryFolder folder_;
};

TEST_F(QueueOnBadDisk, TellsWhereAModelIsThatDoesNotGoIntoItsFolder) {
  fs::create_directories(At(folder_, "q/b/model.safetensors"));  // nothing replaces a folder
  const Finished finished = RunProgram(Arguments("epochs = 1\n"), folder_.path());
  EXPECT_EQ(finished.exit_code, 2);
  const std::string said = "hogbatch: job b: the model was saved in ";
  const std::size_t at = finished.err.find(said);
  ASSERT_NE(at, std::string::npos) << finished.err;
  const std::string place = finished.err.substr(at + said.size());
  EXPECT_TRUE(fs::exists(place.substr(0, place.find(' ')) + "/model.safetensors")) << place;
  EXPECT_THAT(finished.out, HasSubstr("the model was saved in "));
}

TEST_F(QueueOnBadDisk, EndsWithItsSummaryIfItsRecordCannotBeWritten) {
  Process process(Arguments("epochs = 1000000\n"), folder_.path());
  while (process.running() && folder_.Read("q/queue.json").find("running") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  fs::remove(At(folder_, "q/queue.json"));
  fs::create_directory(At(folder_, "q/queue.json"));
  process.Signal(SIGTERM);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("  state "));
  EXPECT_THAT(finished.out, HasSubstr("interrupted"));
  EXPECT_THAT(finished.err, HasSubstr("cannot write q/queue.json: it is a folder"));
  EXPECT_TRUE(folder_.Has("q/b/model.safetensors"));
}

TEST_F(QueueOnBadDisk, FailsIfTheRecordOfAJobIsNotWhole) {
  const std::vector<std::string> arguments =
      Arguments("epochs = 200\nreport-every = 0.01\neval-every = 1\n");
  const ScopedFileLimit limit(16 << 10);  // more than any other file takes
  const Finished finished = RunProgram(arguments, folder_.path());
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("job b: cannot write q/b/metrics.jsonl: File too large; "
                                      "training goes on without a record"));
}

}  // namespace
}  // namespace hogbatch
