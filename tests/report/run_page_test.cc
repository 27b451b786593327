#include "report/run_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace hogbatch::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two workers, reports every second, an evaluation every four.
RunRecord SmallRun(const std::string& name) {
  RunRecord run{.name = name, .folder = "runs/" + name};
  for (int i = 0; i <= 12; ++i) {
    MetricsRow row{.seconds = 1.0 * i,
                   .train_seconds = 0.9 * i,
                   .epoch = i / 4.0,
                   .examples = 1000.0 * i,
                   .running_loss = 1.0 / (1 + i)};
    if (i % 4 == 0) {
      row.measured = {{"train_loss", 1.0 / (1 + i)},
                      {"valid_loss", 1.2 / (1 + i)},
                      {"valid_accuracy", 0.1 * i / 2}};
    }
    if (i > 0) {
      row.batch_size = {{"cpu.0", 16}, {"cuda.0", 64.0 * (1 + i / 4)}};
      row.busy = {{"cpu.0", 0.5}, {"cuda.0", i > 6 ? 0.25 : 0.5}};
    }
    run.metrics.push_back(std::move(row));
  }
  run.totals = {.seconds = 12,
                .train_seconds = 10.8,
                .epoch = 3,
                .examples = 12000,
                .updates = 900,
                .examples_per_second = 1111,
                .best_epoch = 3,
                .beta = 0.99,
                .stopped_because = "epochs",
                .measured = {{"valid_loss", 0.0923}, {"valid_accuracy", 0.6}},
                .updates_by_worker = {{"cpu.0", 600}, {"cuda.0", 300}},
                .merges_by_staleness = {{"0", 90}, {"1", 6}, {"2", 4}}};
  run.options = {{"lr", "0.05"}, {"algorithm", "adaptive"}};
  run.machine = {{"processor", "P"}};
  run.data = {{"source", "mine.csv"}, {"rows", "1,000"}};
  run.network = {{"loss", "softmax"}};
  return run;
}

// What check_page.py says about the page; it fails the test if the page is not well-formed.
std::string Checked(const std::string& page) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/" + folder.Write("page.html", page);
  const std::string command =
      fmt::format("python3 '{}' '{}' > '{}/said' 2>&1", InSource("tests/report/check_page.py"),
                  path, folder.path());
  EXPECT_EQ(std::system(command.c_str()), 0) << folder.Read("said");
  return folder.Read("said");
}

TEST(RunPage, ShowsEverythingOfOneRun) {
  const RunRecord run = SmallRun("first");
  const std::string page = RunPage({&run, 1});
  EXPECT_EQ(Checked(page), "9 charts\n");
  for (const char* part :
       {"Run first", "Loss against time", "Loss against epochs", "Accuracy against time",
        "Rows per second", "Batch size of each device", "Shares of updates by worker", "Staleness",
        "cpu.0: 50 % busy", "66.67", "mine.csv", "<dt>processor</dt>", "<dt>lr</dt><dd>0.05</dd>",
        "all epochs are done", "0.0923"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("class=\"warning\"")));
}

// Busy fractions are since training began; a timeline shows each second by itself.
TEST(RunPage, TakesUtilisationOfEachIntervalFromTheTotals) {
  const RunRecord run = SmallRun("first");
  const std::string page = RunPage({&run, 1});
  EXPECT_THAT(page, HasSubstr("data-name=\"cpu.0\" data-busy=\"1:50,2:50,3:50"));
  EXPECT_THAT(page, HasSubstr("data-name=\"cuda.0\" data-busy=\"1:50,2:50,3:50,4:50,5:50,6:50,7:0,"
                              "8:25,9:25,10:25,11:25,12:25\""));
}

TEST(RunPage, LaysRunsOverEachOtherByName) {
  const RunRecord runs[] = {SmallRun("one"), SmallRun("two"), SmallRun("three")};
  const std::string page = RunPage(runs);
  EXPECT_EQ(Checked(page), "11 charts\n");
  EXPECT_THAT(page, HasSubstr("<h1>3 runs</h1>"));
  for (const char* name : {"one", "two", "three"}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("data-name=\"{}\"", name)));
  }
  EXPECT_THAT(page, HasSubstr("The same in all runs"));
}

TEST(RunPage, EscapesWhateverARunIsCalled) {
  RunRecord run = SmallRun("</script><img src=x onerror=alert(1)>\"'&\xff\x01");
  run.problems = {"<problem>"};
  run.options.emplace_back("data", "a<b>&\"c\".csv");
  run.totals.failures["<worker>"] = "<b>broke</b>";
  run.totals.updates_by_worker["<i>x</i>"] = 1;
  for (MetricsRow& row : run.metrics) {
    row.batch_size["\" onload=\"alert(1)"] = 3;
    row.busy["<svg/onload=alert(1)>"] = 1;
    if (!row.measured.empty()) row.measured["valid_<u>"] = 1;
  }
  const std::string page = RunPage({&run, 1});
  Checked(page);
  for (const char* markup : {"<img", "<b>", "<i>", "<u>", "<problem>", "\" onload"}) {
    EXPECT_THAT(page.substr(page.find("<body>")), Not(HasSubstr(markup)));
  }
  const RunRecord many[] = {run, run};
  Checked(RunPage(many, std::vector<std::string>{"<note>"}));
}

TEST(RunPage, ShowsWhatThereIsOfAnEmptyRun) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  RunRecord run{.name = "r", .folder = "r"};
  run.totals = {.seconds = none,
                .train_seconds = none,
                .epoch = none,
                .examples = none,
                .updates = none,
                .examples_per_second = none,
                .best_epoch = none,
                .beta = none};
  run.problems = {"metrics.jsonl has no line yet, so there are no curves"};
  const std::string page = RunPage({&run, 1});
  Checked(page);
  EXPECT_THAT(page, HasSubstr("no data"));
  EXPECT_THAT(page, HasSubstr("no end recorded"));
  EXPECT_THAT(page, HasSubstr("r: metrics.jsonl has no line yet"));
}

TEST(RunPage, StaysDrawableWhenALossDiverged) {
  RunRecord run = SmallRun("r");
  run.metrics[4].measured["train_loss"] = std::numeric_limits<double>::infinity();
  run.metrics[8].measured["train_loss"] = 1e300;
  run.metrics[9].running_loss = std::nan("");
  Checked(RunPage({&run, 1}));
}

TEST(RunPage, DoesNotLetTheLossBeforeTrainingHideTheRest) {
  RunRecord run = SmallRun("r");
  run.metrics[0].measured["train_loss"] = 50;
  run.metrics[0].measured["valid_loss"] = 50;
  EXPECT_THAT(RunPage({&run, 1}), HasSubstr("loss (before training 50)"));
}

TEST(RunPage, ShowsTeamsWhereWorkersAreMany) {
  RunRecord run = SmallRun("r");
  for (int i = 0; i < 64; ++i) {
    const std::string worker = fmt::format("cpu.{}", i);
    run.totals.updates_by_worker[worker] = 10;
    for (MetricsRow& row : run.metrics) row.batch_size[worker] = 16;
  }
  run.totals.share_by_team = {{"cpu", 0.9}, {"cuda.0", 0.1}};
  const std::string page = RunPage({&run, 1});
  EXPECT_THAT(page, HasSubstr("Shares of updates by team"));
  EXPECT_THAT(page, HasSubstr("cpu.0 to cpu.63"));
}

TEST(Differences, TellOfRunsOnDifferentData) {
  RunRecord runs[] = {SmallRun("a"), SmallRun("b")};
  EXPECT_THAT(Differences(runs), IsEmpty());
  runs[1].data = {{"source", "other.csv"}, {"rows", "7"}};
  EXPECT_THAT(
      Differences(runs),
      ElementsAre(
          "The runs trained on different data, so their losses and metrics cannot be compared: "
          "a on mine.csv, 1,000 rows; b on other.csv, 7 rows."));
  EXPECT_THAT(RunPage(runs), HasSubstr("trained on different data"));
  runs[1].data.clear();
  EXPECT_THAT(Differences(runs), IsEmpty()) << "what is not known is not different";
  runs[1].network = {{"loss", "squared"}};
  EXPECT_THAT(Differences(runs), ElementsAre(HasSubstr("different losses")));
}

}  // namespace
}  // namespace hogbatch::report
