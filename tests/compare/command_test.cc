// hogbatch compare as users meet it, against stand-ins for the frameworks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::Not;

class CompareCommand : public testing::Test {
 protected:
  CompareCommand() : baselines_("HOGBATCH_BASELINES", folder_.path() + "/scripts") {
    folder_.Write("data", TwoClasses(400));
    std::filesystem::create_directory(folder_.path() + "/scripts");
    for (const char* name : {"tensorflow_mlp", "pytorch_mlp", "keras_fit", "sklearn_mlp"}) {
      std::filesystem::copy_file(InSource("tests/compare/stand_in.py"),
                                 folder_.path() + "/scripts/" + name + ".py");
    }
  }

  static std::vector<std::string> Words(std::vector<std::string> more) {
    std::vector<std::string> words = {"compare",  "data",      "--quick",   "--budget", "4",
                                      "--hidden", "4",         "--batches", "16",       "--lrs",
                                      "0.2",      "--threads", "2",         "--seeds",  "2",
                                      "--rounds", "2",         "--out",     "o"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Finished Compare(std::vector<std::string> more) const {
    return RunProgram(Words(std::move(more)), folder_.path());
  }
  nlohmann::json Result() const {
    return nlohmann::json::parse(folder_.Read("o/compare.json"), nullptr, false);
  }

  TemporaryFolder folder_;
  ScopedVariable baselines_;
  ScopedVariable python_{"HOGBATCH_PYTHON", "python3"};
};

TEST_F(CompareCommand, EndsInOnePageAndOneJsonFile) {
  const Finished finished = Compare({"--against", "tensorflow"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("first look 1/"));
  EXPECT_THAT(finished.out, HasSubstr(" left"));
  EXPECT_THAT(finished.out, HasSubstr("time to a loss of"));
  EXPECT_EQ(finished.out.find('\r'), std::string::npos) << "a log file wants whole lines";
  EXPECT_THAT(folder_.Read("o/compare.html"), HasSubstr("hogbatch and tensorflow on data"));
  EXPECT_THAT(folder_.Read("o/compare.svg"), HasSubstr("<svg"));
  const auto json = Result();
  EXPECT_TRUE(json["complete"]);
  EXPECT_EQ(json["findings"]["race"].size(), 3u);
  EXPECT_EQ(json["findings"]["curves"].size(), 3u);
  for (const auto& race : json["findings"]["race"]) {
    EXPECT_TRUE(race.contains("peak_memory_bytes")) << race["side"];
    EXPECT_EQ(race["runs"], 2) << race["side"];
  }
}

TEST_F(CompareCommand, MeasuresThroughputOnlyIfAsked) {
  const Finished finished = Compare({"--against", "tensorflow", "--throughput"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("rows/s"));
  const auto json = Result();
  EXPECT_TRUE(json["complete"]);
  EXPECT_FALSE(json["findings"].contains("race"));
  EXPECT_FALSE(json["findings"]["throughput"].empty());
  EXPECT_THAT(folder_.Read("o/compare.html"), Not(HasSubstr("interrupted")));
}

TEST_F(CompareCommand, ADoneComparisonIsNotDoneAgainAndAnotherIsRefused) {
  // A budget that leaves no time for the last of these batch sizes, the second time neither.
  const std::string batches = "16,32,64,128";
  ASSERT_EQ(Compare({"--against", "none", "--batches", batches, "--quiet"}).exit_code, 0);
  const auto runs = Result()["runs"];
  const Finished again = Compare({"--against", "none", "--batches", batches, "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, folder_.Read("o/compare.json"));
  EXPECT_EQ(Result()["runs"], runs);
  const Finished other = Compare({"--against", "none", "--batches", batches, "--hidden", "5"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("holds another comparison: --hidden was 4 and is now 5"));
}

TEST_F(CompareCommand, GoesOnWhereItWasInterrupted) {
  const std::vector<std::string> more = {"--against", "tensorflow", "--quiet"};
  Process process(Words(more), folder_.path());
  const auto runs = [&] {
    const auto json = Result();
    return json.is_object() ? json["runs"] : nlohmann::json::array();
  };
  while (process.running() && runs().size() < 3) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  process.Signal(SIGINT);
  const Finished finished = process.Wait();
  ASSERT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("the same command goes on from there"));
  EXPECT_THAT(folder_.Read("o/compare.html"), HasSubstr("This comparison was interrupted"));
  const auto before = runs();
  ASSERT_GE(before.size(), 3u);
  // What is no file is exported again, and not waited for.
  std::filesystem::remove(folder_.path() + "/o/export/export.json");
  ASSERT_EQ(::mkfifo((folder_.path() + "/o/export/export.json").c_str(), 0600), 0);
  ASSERT_EQ(Compare(more).exit_code, 0);
  const auto after = runs();
  EXPECT_GT(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], before[i]) << i;
}

TEST_F(CompareCommand, MissingAndFailingFrameworksAreNamedAndTheRestGoesOn) {
  ScopedVariable ways("STAND_IN", "keras=missing,sklearn=impossible,pytorch=fail");
  const Finished finished = Compare({});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("keras is left out: not installed; install it with: "
                                      "scripts/baselines keras"));
  const std::string page = folder_.Read("o/compare.html");
  EXPECT_THAT(page, HasSubstr("RuntimeError: the stand-in failed"));
  EXPECT_THAT(page, HasSubstr("the rows do not fit into memory"));
  const auto json = Result();
  EXPECT_TRUE(json["complete"]);
  EXPECT_EQ(json["findings"]["race"].size(), 3u) << "hogbatch, its sync, and tensorflow";
}

TEST_F(CompareCommand, AFrameworkThatFailsInTheRaceKeepsItsOtherFigures) {
  ScopedVariable ways("STAND_IN", "tensorflow=late");
  const Finished finished = Compare({"--against", "tensorflow"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("failed: RuntimeError: the stand-in failed"));
  EXPECT_THAT(finished.out, HasSubstr("tensorflow                 40,000 rows/s"));
}

TEST_F(CompareCommand, AFrameworkThatHangsIsEnded) {
  ScopedVariable ways("STAND_IN", "tensorflow=hang");
  // Long enough for hogbatch's own runs on a busy disk.
  const Finished finished = Compare({"--against", "tensorflow", "--max-run", "12"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(folder_.Read("o/compare.html"), HasSubstr("ended after 12 seconds (--max-run)"))
      << folder_.Read("o/compare.json");
}

TEST_F(CompareCommand, WithoutPythonHogbatchIsComparedWithItself) {
  ScopedVariable python("HOGBATCH_PYTHON", "/no/python");
  const Finished finished = Compare({"--against", "sklearn"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("cannot start /no/python"));
  EXPECT_THAT(finished.err, HasSubstr("install Python 3, or set HOGBATCH_PYTHON"));
}

TEST_F(CompareCommand, WrongFilesAndFoldersAreSentences) {
  const auto why_not = [&](std::vector<std::string> words) {
    const Finished finished = RunProgram(words, folder_.path());
    EXPECT_NE(finished.exit_code, 0);
    EXPECT_THAT(finished.err, Not(HasSubstr("terminate")));
    return finished.err;
  };
  EXPECT_THAT(why_not({"compare", "missing.csv", "--out", "o"}), HasSubstr("missing.csv"));
  EXPECT_THAT(why_not({"compare", "data", "--out", "/proc/no"}), HasSubstr("/proc/no"));
  folder_.Write("file", "");
  EXPECT_THAT(why_not({"compare", "data", "--out", "file"}), HasSubstr("file"));
  EXPECT_THAT(why_not({"compare", "data", "--against", "torch"}),
              HasSubstr("unknown framework 'torch'"));
}

}  // namespace
}  // namespace hogbatch
