// hogbatch report, and what train leaves for other programs, as users meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/files.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class ReportCommand : public testing::Test {
 protected:
  void SetUp() override { folder_.Write("data", TwoClasses(400)); }

  Finished Run(const std::vector<std::string>& arguments) const {
    return RunProgram(arguments, folder_.path());
  }
  // Trains a small network into `out`.
  Finished Train(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"train", "data",  "--hidden", "8",         "--epochs",
                                          "3",     "--out", out,        "--devices", "cpu:2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  void MakeFolder(const std::string& name) const {
    fs::create_directory(folder_.path() + "/" + name);
  }

  TemporaryFolder folder_;
};

TEST_F(ReportCommand, WritesThePageOfARunIntoItsFolder) {
  ASSERT_EQ(Train("first").exit_code, 0);
  const Finished finished = Run({"report", "first"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "report    first/report.html\n");
  EXPECT_EQ(finished.err, "");
  const std::string page = folder_.Read("first/report.html");
  for (const char* part :
       {"<h1>Run first</h1>", "Loss against time", "<dt>source</dt><dd>data</dd>",
        "<dt>rows</dt><dd>360</dd>", "<dt>cores</dt>", "<dt>hidden</dt><dd>8</dd>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST_F(ReportCommand, LaysSeveralRunsOverEachOtherUnderTheirNames) {
  ASSERT_EQ(Train("first", {"--quiet"}).exit_code, 0);
  ASSERT_EQ(Train("second", {"--quiet", "--optimizer", "adam"}).exit_code, 0);
  const Finished finished = Run({"report", "first", "my adam=second/", "first"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "report    report.html\n");
  const std::string page = folder_.Read("report.html");
  EXPECT_THAT(page, HasSubstr("first, my adam, first (2)"));
  EXPECT_THAT(page, HasSubstr("<td>optimizer</td><td>sgd</td><td>adam</td>"));
  EXPECT_EQ(Run({"report", "first", "--out", "there/is/none.html"}).exit_code, 2);
  EXPECT_EQ(Run({"report", "first", "--out", "page.html"}).exit_code, 0);
  EXPECT_TRUE(folder_.Has("page.html"));
}

TEST_F(ReportCommand, SaysWhatIsNoRunAndShowsTheOthers) {
  ASSERT_EQ(Train("good", {"--quiet"}).exit_code, 0);
  MakeFolder("empty");
  MakeFolder("foreign");
  folder_.Write("foreign/photo.jpg", "x");
  const Finished finished = Run({"report", "good", "empty", "foreign", "absent", "data"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("empty is an empty folder"),
                                  HasSubstr("foreign is not the folder of a run"),
                                  HasSubstr("absent: there is no such folder"),
                                  HasSubstr("data is a file; name the folder of a run")));
  EXPECT_THAT(folder_.Read("report.html"), AllOf(HasSubstr("<h1>Run good</h1>"),
                                                 HasSubstr("Left out: empty is an empty folder")));
  for (const char* folder : {"empty", "absent"}) {
    const Finished alone = Run({"report", folder});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_EQ(std::count(alone.err.begin(), alone.err.end(), '\n'), 1) << alone.err;
  }
  EXPECT_THAT(Run({"report", "empty", "absent"}).err, HasSubstr("nothing was written"));
  EXPECT_THAT(Run({"report"}).err, HasSubstr("report needs the folder of a run"));
  EXPECT_THAT(Run({"report", "=good"}).err, HasSubstr("is not NAME=DIR"));
}

TEST_F(ReportCommand, TellsOfRunsOnDifferentDataOnTheTerminalAndInThePage) {
  folder_.Write("more", TwoClasses(800));
  ASSERT_EQ(Train("a", {"--quiet"}).exit_code, 0);
  ASSERT_EQ(
      Run({"train", "more", "--hidden", "8", "--epochs", "1", "--out", "b", "--quiet"}).exit_code,
      0);
  const Finished finished = Run({"report", "a", "b"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err, HasSubstr("The runs trained on different data"));
  EXPECT_THAT(folder_.Read("report.html"),
              HasSubstr("a on data, 360 rows, 4 features, 2 outputs; b on more"));
}

TEST_F(ReportCommand, ShowsARunThatWasKilledAndOneThatIsDamaged) {
  ASSERT_EQ(Train("r", {"--quiet"}).exit_code, 0);
  fs::remove(folder_.path() + "/r/summary.json");
  folder_.Write("r/metrics.jsonl", folder_.Read("r/metrics.jsonl") + "{\"seconds\":9,\"ep");
  folder_.Write("r/options.json", "{");
  const Finished finished = Run({"report", "r"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("r: the last line of metrics.jsonl is incomplete"),
                    HasSubstr("r: summary.json is missing: the run is still going on"),
                    HasSubstr("r: options.json is damaged")));
  EXPECT_THAT(folder_.Read("r/report.html"), HasSubstr("Loss against time"));
}

TEST_F(ReportCommand, EscapesNamesOfFoldersAndFiles) {
  const std::string evil = "<img src=x onerror=alert(1)>";
  folder_.Write(evil, TwoClasses(100));
  ASSERT_EQ(Run({"train", evil, "--hidden", "2", "--epochs", "1", "--out", "<b>&\"o\"", "--quiet",
                 "--report"})
                .exit_code,
            0);
  const std::string page = folder_.Read("<b>&\"o\"/report.html");
  EXPECT_THAT(page, HasSubstr("Run &lt;b&gt;&amp;&quot;o&quot;"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

TEST_F(ReportCommand, IsWrittenByTrainingToo) {
  const Finished finished = Train("o", {"--report"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("report    o/report.html"));
  EXPECT_THAT(folder_.Read("o/report.html"), HasSubstr("all epochs are done"));
}

TEST_F(ReportCommand, AResumedRunGoesOnWithItsPageAndItsEvents) {
  ASSERT_EQ(Train("run", {"--report", "--tensorboard"}).exit_code, 0);
  const std::string events = std::string("run/") + kEventFile, before = folder_.Read(events);
  fs::remove(folder_.path() + "/run/report.html");  // a run that is killed has none
  const Finished resumed = Run({"train", "--resume", "run", "--epochs", "5"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(folder_.Has("run/report.html"));
  EXPECT_GT(folder_.Read(events).size(), before.size());
}

TEST_F(ReportCommand, TrainingLeavesATraceThatViewersOpen) {
  const Finished finished = Train("o", {"--trace", "t.json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("trace     t.json"));
  const auto file = nlohmann::json::parse(folder_.Read("t.json"));
  std::int64_t rows = 0, updates = 0;
  std::map<std::string, int> seen;
  for (const auto& event : file["traceEvents"]) {
    ++seen[event["name"]];
    if (event["name"] != "train") continue;
    rows += event["args"]["rows"].get<std::int64_t>();
    updates += event["args"]["updates"].get<std::int64_t>();
  }
  EXPECT_EQ(rows, 1080);
  EXPECT_EQ(std::to_string(updates), ValueOf(folder_.Read("o/summary.json"), "updates"));
  for (const char* name : {"snapshot", "evaluate", "thread_name", "rows/s"})
    EXPECT_GT(seen[name], 0) << name;
}

TEST_F(ReportCommand, TriesThePlaceOfATraceBeforeItReadsAnything) {
  fs::create_directory(folder_.path() + "/folder");
  for (const char* path : {"no/such/folder/t.json", "folder"}) {
    const Finished finished = Run({"train", "there is no such data", "--trace", path});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr(std::string("cannot write ") + path));
  }
}

TEST_F(ReportCommand, AnInterruptedRunHasItsTraceAndReport) {
  Process process({"train", "data", "--hidden", "8", "--epochs", "1000000", "--out", "o",
                   "--report-every", "0.05", "--quiet", "--trace", "t.json", "--report"},
                  folder_.path());
  while (process.running() && folder_.Read("o/metrics.jsonl").empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  process.Signal(SIGINT);
  EXPECT_EQ(process.Wait().exit_code, 130);
  EXPECT_THAT(folder_.Read("o/report.html"), HasSubstr("it was interrupted"));
  EXPECT_TRUE(nlohmann::json::accept(folder_.Read("t.json")));
}

TEST_F(ReportCommand, ARunWithoutTensorBoardLeavesNoEventsOfAnEarlierOne) {
  ASSERT_EQ(Train("o", {"--tensorboard", "--quiet"}).exit_code, 0);
  EXPECT_TRUE(folder_.Has("o/events.out.tfevents.hogbatch"));
  ASSERT_EQ(Train("o", {"--quiet"}).exit_code, 0);
  EXPECT_FALSE(folder_.Has("o/events.out.tfevents.hogbatch"));
}

// TensorBoard itself reads the file, and finds the values of metrics.jsonl.
TEST_F(ReportCommand, TensorBoardReadsTheEventsOfARun) {
  const std::string python = InSource(".deps/bin/python");
  const std::string probe = "'" + python + "' -c 'import tensorboard' 2> /dev/null";
  if (!fs::exists(python) || std::system(probe.c_str()) != 0) {
    GTEST_SKIP() << "needs TensorBoard for Python: run scripts/setup test";
  }
  // Evaluations so rare that they do not take the place of reports.
  ASSERT_EQ(Train("o", {"--tensorboard", "--quiet", "--report-every", "0.01", "--epochs", "2000",
                        "--eval-every", "500", "--devices", "cpu:1"})
                .exit_code,
            0);
  const std::string read = "'" + python + "' '" + InSource("tests/cli/read_events.py") + "' '" +
                           folder_.path() + "/o' > '" + folder_.path() + "/said' 2>&1";
  EXPECT_EQ(std::system(read.c_str()), 0) << folder_.Read("said");
}

}  // namespace
}  // namespace hogbatch
