#include "compare/runs/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/comparison.h"
#include "compare/runs/record_json.h"
#include "core/error.h"
#include "tests/compare/records.h"
#include "tests/support/process.h"

namespace hogbatch::compare {
namespace {

using testing::HasSubstr;

std::string WhyNot(const std::string& folder, const OptionTexts& identity) {
  try {
    LoadRuns(folder, identity);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was taken";
}

const OptionTexts kIdentity = {{"--seeds", "3"}, {"--budget", "45m"}};

Comparison WithRuns() {
  Comparison comparison{.identity = kIdentity};
  RunRecord race = MakeRun(Phase::kRace, "tensorflow", 64, 0.06, Fall(1, 0.5), 2);
  race.plan.stop = 0.53;
  comparison.log.Add(race);
  comparison.log.Add(Failed(MakeRun(Phase::kTuning, "keras", 16, 0.2, {}), Outcome::kFailed,
                            "ValueError: \"quoted\"\nlast line \xff"));
  return comparison;
}

TEST(RunLog, ComesBackFromItsFileAsItWas) {
  TemporaryFolder folder;
  const Comparison before = WithRuns();
  folder.Write("compare.json", CompareJson(before));
  const RunLog after = LoadRuns(folder.path(), kIdentity);
  ASSERT_EQ(after.records().size(), 2u);
  EXPECT_EQ(JsonOf(after.records()[0]), JsonOf(before.log.records()[0]));
  EXPECT_EQ(after.records()[1].outcome, Outcome::kFailed);
  EXPECT_THAT(after.records()[1].message, HasSubstr("\"quoted\""));
}

TEST(RunLog, FindsARunByWhatWasPlannedOnly) {
  const RunLog log = WithRuns().log;
  RunPlan plan = log.records()[0].plan;
  EXPECT_EQ(log.Find(plan), &log.records()[0]);
  for (RunPlan other : {plan, plan, plan, plan, plan}) {
    other.seed += 1;
    EXPECT_EQ(log.Find(other), nullptr);
  }
  RunPlan longer = plan;
  longer.seconds = 20;
  EXPECT_EQ(log.Find(longer), nullptr);
  RunPlan lower = plan;
  lower.stop = 0.52;
  EXPECT_EQ(log.Find(lower), nullptr);
}

TEST(RunLog, IsEmptyWithoutAFile) {
  TemporaryFolder folder;
  EXPECT_TRUE(LoadRuns(folder.path(), kIdentity).records().empty());
}

TEST(RunLog, RefusesAnotherComparisonAndShowsTheDifference) {
  TemporaryFolder folder;
  folder.Write("compare.json", CompareJson(WithRuns()));
  const std::string why = WhyNot(folder.path(), {{"--seeds", "5"}, {"--budget", "45m"}});
  EXPECT_THAT(why, HasSubstr("holds another comparison: --seeds was 3 and is now 5"));
  EXPECT_THAT(why, HasSubstr("choose another --out"));
}

TEST(RunLog, RefusesFilesOfOthersAndDamagedOnes) {
  TemporaryFolder folder;
  folder.Write("compare.json", "[1, 2]");
  EXPECT_THAT(WhyNot(folder.path(), kIdentity), HasSubstr("is not the record of a comparison"));
  folder.Write("compare.json", R"({"format": 9, "options": {}, "runs": []})");
  EXPECT_THAT(WhyNot(folder.path(), kIdentity), HasSubstr("was written by a newer hogbatch"));
  folder.Write("compare.json",
               R"({"format": 1, "options": {"--seeds": "3", "--budget": "45m"}, "runs": [{}]})");
  EXPECT_THAT(WhyNot(folder.path(), kIdentity), HasSubstr("is damaged"));
  folder.Write("compare.json", R"({"format": 1, "options": {"--seeds": 3}, "runs": []})");
  EXPECT_THAT(WhyNot(folder.path(), kIdentity), HasSubstr("is damaged"));
  folder.Write("compare.json", R"({"format": 1, "options": {}, "runs": null})");
  EXPECT_THAT(WhyNot(folder.path(), kIdentity), HasSubstr("is not the record of a comparison"));
  for (const char* key : {"batch", "peak_memory_bytes"}) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(CompareJson(WithRuns()));
    json["runs"][0][key] = 1e300;
    folder.Write("compare.json", json.dump());
    EXPECT_THAT(WhyNot(folder.path(), kIdentity), HasSubstr("is damaged")) << key;
  }
}

TEST(RunLog, OptionsAndFilesMakeTheIdentityButNotTheFolder) {
  TemporaryFolder folder;
  const std::string data = folder.path() + "/" + folder.Write("data", "1,2");
  const auto before = IdentityOf({{"seeds", "3"}, {"out", "a"}}, {data, ""});
  EXPECT_EQ(before, IdentityOf({{"seeds", "3"}, {"out", "b"}}, {data, ""}));
  folder.Write("data", "1,2,3");
  EXPECT_NE(before, IdentityOf({{"seeds", "3"}, {"out", "a"}}, {data, ""}));
}

}  // namespace
}  // namespace hogbatch::compare
