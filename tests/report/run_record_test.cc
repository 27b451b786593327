#include "report/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "tests/support/process.h"

namespace hogbatch::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr char kLine[] =
    R"({"seconds":1.0,"train_seconds":0.9,"epoch":0.5,"examples":100,"running_loss":0.7,)"
    R"("updates_by_worker":{"cpu.0":3},"batch_rows_by_worker":{"cpu.0":16},)"
    R"("busy_fraction_by_worker":{"cpu.0":0.5}})"
    "\n";
constexpr char kEvaluation[] =
    R"({"seconds":0.5,"train_seconds":0.4,"epoch":0.25,"examples":50,"valid_loss":0.8,)"
    R"("valid_accuracy":0.75})"
    "\n";
constexpr char kSummary[] =
    R"({"format":1,"seconds":2.0,"train_seconds":1.5,"epoch":1.0,"examples":200,"updates":12,)"
    R"("examples_per_second":133.0,"valid_loss":0.6,"stopped_because":"epochs","best_epoch":1.0,)"
    R"("updates_by_worker":{"cpu.0":12},"staleness":{"0":9,"2":3},"failures_by_worker":{"cpu.1":"broke"}})";
constexpr char kOptions[] =
    R"({"options_format":1,"hidden":[8,4],"lr":0.05,"no-pin":false,"out":"here","seed":12345,)"
    R"("machine":{"processor":"P","memory_bytes":2500000000},"dataset":{"source":"mine.csv","rows":45000}})";

class RunFolder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(path()); }
  std::string path() const { return folder_.path() + "/run"; }
  void Write(const std::string& file, const std::string& text) const {
    folder_.Write("run/" + file, text);
  }
  RunRecord Read() const { return ReadRun("name", path()); }

  TemporaryFolder folder_;
};

TEST_F(RunFolder, IsReadWithEverythingInIt) {
  Write("metrics.jsonl", std::string(kLine) + kEvaluation);
  Write("summary.json", kSummary);
  Write("options.json", kOptions);
  const RunRecord run = Read();
  EXPECT_THAT(run.problems, IsEmpty());
  ASSERT_EQ(run.metrics.size(), 2u);
  EXPECT_EQ(run.metrics[0].seconds, 0.5) << "an evaluation tells of an earlier moment";
  EXPECT_EQ(run.metrics[0].measured.at("valid_accuracy"), 0.75);
  EXPECT_FALSE(run.metrics[0].measured.contains("train_seconds"));
  EXPECT_EQ(run.metrics[1].busy.at("cpu.0"), 0.5);
  EXPECT_EQ(run.metrics[1].batch_size.at("cpu.0"), 16);
  EXPECT_EQ(run.totals.updates, 12);
  EXPECT_EQ(run.totals.stopped_because, "epochs");
  EXPECT_EQ(run.totals.merges_by_staleness.at("2"), 3);
  EXPECT_EQ(run.totals.failures.at("cpu.1"), "broke");
  EXPECT_THAT(run.options, ElementsAre(std::pair{"hidden", "8, 4"}, std::pair{"lr", "0.05"},
                                       std::pair{"no-pin", "no"}, std::pair{"seed", "12345"}));
  EXPECT_THAT(run.machine, ElementsAre(std::pair{"processor", "P"}, std::pair{"memory", "2.5 GB"}));
  EXPECT_THAT(run.data, ElementsAre(std::pair{"source", "mine.csv"}, std::pair{"rows", "45,000"}));
}

TEST_F(RunFolder, OfARunUnderWayShowsWhereItStands) {
  Write("metrics.jsonl", std::string(kEvaluation) + kLine + R"({"seconds":2.0,"epo)");
  Write("options.json", kOptions);
  const RunRecord run = Read();
  EXPECT_THAT(run.problems, ElementsAre(HasSubstr("last line of metrics.jsonl is incomplete"),
                                        HasSubstr("summary.json is missing: the run is still")));
  EXPECT_EQ(run.totals.epoch, 0.5);
  EXPECT_EQ(run.totals.measured.at("valid_loss"), 0.8);
  EXPECT_EQ(run.totals.stopped_because, "");
  EXPECT_TRUE(std::isnan(run.totals.best_epoch));
}

TEST_F(RunFolder, WithDamagedLinesIsReadWithoutThem) {
  Write("metrics.jsonl", std::string("{{{\n") + kLine + "[1,2]\n5\nnull\n{\"seconds\":\"x\"}\n\n" +
                             std::string("\0\xff\n", 3) + kEvaluation + "{\"seconds\":1e999}\n" +
                             std::string(3 << 20, 'x') + "\n" +
                             R"({"seconds":3.0,"busy_fraction_by_worker":[1],"valid_loss":"bad"})" +
                             "\n");
  Write("summary.json", kSummary);
  Write("options.json", kOptions);
  const RunRecord run = Read();
  EXPECT_EQ(run.metrics.size(), 3u);
  EXPECT_THAT(run.problems,
              ElementsAre("8 of 12 lines of metrics.jsonl are not records and were left out, the "
                          "first of them line 1"));
}

TEST_F(RunFolder, WithDamagedFilesIsReadWithoutThem) {
  Write("metrics.jsonl", kLine);
  for (const std::string& damaged : {std::string("{\"format\":"), std::string("[]"), std::string(),
                                     std::string(17 << 20, ' '), std::string("\xff\xfe\0", 3)}) {
    Write("summary.json", damaged);
    Write("options.json", damaged);
    EXPECT_THAT(Read().problems, ElementsAre(testing::StartsWith("summary.json is "),
                                             testing::EndsWith(", so there is no configuration")));
  }
  Write("summary.json", R"({"format":99,"seconds":"x","updates_by_worker":5,"epoch":[1]})");
  const RunRecord newer = Read();
  EXPECT_THAT(newer.problems.front(), HasSubstr("was written by a newer hogbatch"));
  EXPECT_TRUE(std::isnan(newer.totals.seconds));
}

TEST_F(RunFolder, WithoutALineYetSaysSo) {
  Write("metrics.jsonl", "");
  EXPECT_THAT(Read().problems.front(), HasSubstr("no line yet"));
}

TEST_F(RunFolder, WithAHugeRecordIsThinnedOutButKeepsEvaluations) {
  std::string text;
  for (int i = 0; i < 60000; ++i) {
    text +=
        R"({"seconds":)" + std::to_string(i) + (i % 600 == 0 ? R"(,"valid_loss":1})" : "}") + "\n";
  }
  Write("metrics.jsonl", text);
  const RunRecord run = Read();
  EXPECT_LT(run.metrics.size(), 20000u);
  EXPECT_GT(run.metrics.size(), 5000u);
  EXPECT_EQ(
      std::ranges::count_if(run.metrics, [](const MetricsRow& m) { return !m.measured.empty(); }),
      100);
  EXPECT_GT(run.metrics.back().seconds, 59000);
}

// The moment has a batch size for each of `count` workers from number `first` on.
std::string LineOfWorkers(int second, int first, int count) {
  std::string sizes;
  for (int i = first; i < first + count; ++i) {
    sizes += (i > first ? ",\"w" : "\"w") + std::to_string(i) + "\":16";
  }
  return "{\"seconds\":" + std::to_string(second) + ",\"batch_rows_by_worker\":{" + sizes + "}}\n";
}

TEST_F(RunFolder, WithVeryManyNamesIsReadWithTheFirst) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += LineOfWorkers(i + 1, 50 * i, 50);
  Write("metrics.jsonl", text);
  Write("summary.json",
        R"({"updates_by_worker":{"w7":1,"cpu.0":2},"failures_by_worker":{"x":""}})");
  Write("options.json", kOptions);
  const RunRecord run = Read();
  EXPECT_THAT(run.problems, ElementsAre("it names more than 1,000 workers and measures, of which "
                                        "the first were taken and all others left out"));
  EXPECT_EQ(run.metrics[0].batch_size.size(), 50u);
  EXPECT_THAT(run.metrics[20].batch_size, IsEmpty());
  EXPECT_THAT(run.totals.updates_by_worker, ElementsAre(std::pair{"w7", 1}));
  EXPECT_THAT(run.totals.failures, IsEmpty());
}

TEST_F(RunFolder, WithManyNamesIsThinnedOutSooner) {
  std::string text = LineOfWorkers(1, 0, 1000);
  for (int i = 2; i < 10000; ++i) text += LineOfWorkers(i, i % 1000, 1);
  Write("metrics.jsonl", text);
  EXPECT_LT(Read().metrics.size(), 4000u);
  EXPECT_GT(Read().metrics.size(), 1000u);
}

TEST_F(RunFolder, ThatIsNoneIsRefusedWithASentence) {
  EXPECT_THAT([&] { Read(); }, ThrowsMessage<UserError>(HasSubstr("/run is an empty folder")));
  Write("notes.txt", "hello");
  EXPECT_THAT([&] { Read(); },
              ThrowsMessage<UserError>(HasSubstr("has neither metrics.jsonl nor")));
  EXPECT_THAT([&] { ReadRun("x", folder_.path() + "/absent"); },
              ThrowsMessage<UserError>(HasSubstr("absent: there is no such folder")));
  EXPECT_THAT([&] { ReadRun("x", path() + "/notes.txt"); },
              ThrowsMessage<UserError>(HasSubstr("is a file; name the folder of a run")));
  std::filesystem::create_directory(path() + "/metrics.jsonl");
  EXPECT_THAT(Read().problems.front(), HasSubstr("metrics.jsonl is missing"));
}

TEST(NaturalOrder, PutsNumbersInOrder) {
  const NaturalOrder less;
  EXPECT_TRUE(less("cpu.2", "cpu.10"));
  EXPECT_FALSE(less("cpu.10", "cpu.2"));
  EXPECT_TRUE(less("cpu.2", "cuda.0"));
  EXPECT_TRUE(less("a", "b"));
  EXPECT_FALSE(less("cpu.2", "cpu.2"));
  EXPECT_TRUE(less("x01", "x1") != less("x1", "x01")) << "names that differ stay apart";
}

TEST(Reports, LeavesOutWhatFollowsTooSoonForARate) {
  RunRecord run;
  for (const double seconds : {0.0, 1.0, 1.05, 2.0, 3.0, 3.01, 4.0}) {
    run.metrics.push_back({.seconds = seconds});
  }
  std::vector<double> taken;
  for (const MetricsRow* row : Reports(run)) taken.push_back(row->seconds);
  EXPECT_THAT(taken, ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace hogbatch::report
