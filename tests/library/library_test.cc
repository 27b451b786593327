#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hogbatch/hogbatch.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

class Library : public testing::Test {
 protected:
  Library() {
    std::ofstream file(data_);
    for (int i = 0; i < 300; ++i) file << i % 7 << ',' << i % 5 << ',' << (i % 7 > 3) << '\n';
  }

  TemporaryFolder folder_;
  std::string data_ = folder_.path() + "/data.csv";
};

const Options kSmall = {{"epochs", "3"}, {"hidden", "8"}, {"devices", "cpu:1"}};

class Recorder final : public TrainingListener {
 public:
  void OnReport(const TrainingReport& report) override { reports.push_back(report); }
  void OnWarning(std::string_view sentence) override { warnings.emplace_back(sentence); }
  std::vector<TrainingReport> reports;
  std::vector<std::string> warnings;
};

TEST_F(Library, TrainsSavesLoadsAndPredictsTheSame) {
  const Network network = Train(data_, kSmall);
  EXPECT_THAT(network.labels(), testing::ElementsAre("0", "1"));
  const std::string model = folder_.path() + "/model.safetensors";
  network.Save(model);
  const Network loaded = Network::Load(model);
  EXPECT_EQ(loaded.PredictFile(data_), network.PredictFile(data_));
  EXPECT_EQ(loaded.PredictFile(data_).size(), 300u);
  EXPECT_EQ(loaded.OutputsForFile(data_).size(), 600u);
  const Scores scores = loaded.EvaluateFile(data_);
  EXPECT_EQ(scores.rows, 300);
  ASSERT_EQ(scores.metrics.size(), 1u);
  EXPECT_EQ(scores.metrics[0].first, "accuracy");
}

TEST_F(Library, ReportsEveryEvaluation) {
  Recorder recorder;
  Train(data_, kSmall, &recorder);
  const auto evaluated = std::ranges::count_if(
      recorder.reports, [](const TrainingReport& report) { return report.valid.has_value(); });
  EXPECT_EQ(evaluated, 4) << "the start and three epochs";
}

TEST_F(Library, WarnsOfAnOptionThatHasNoEffect) {
  Recorder recorder;
  Train(data_, kSmall, &recorder);
  EXPECT_THAT(recorder.warnings, testing::IsEmpty());
  Options options = kSmall;
  options["alpha"] = "3";
  Train(data_, options, &recorder);
  EXPECT_THAT(
      recorder.warnings,
      testing::ElementsAre("--alpha is for --algorithm adaptive; hogbatch does not use it"));
}

TEST_F(Library, StopsWhenAskedAndReturnsTheBestSoFar) {
  std::stop_source stop;
  class Stopper final : public TrainingListener {
   public:
    explicit Stopper(std::stop_source& source) : source_(source) {}
    void OnReport(const TrainingReport&) override { source_.request_stop(); }
    std::stop_source& source_;
  } stopper(stop);
  Options endless = kSmall;
  endless["epochs"] = "1000000";
  EXPECT_EQ(Train(data_, endless, &stopper, stop.get_token()).labels().size(), 2u);
}

TEST_F(Library, ThrowsASentenceForWhatIsWrong) {
  const auto why = [&](const std::string& data, const Options& options) -> std::string {
    try {
      Train(data, options);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "it was taken";
  };
  EXPECT_THAT(why(folder_.path() + "/absent.csv", {}), HasSubstr("absent.csv"));
  EXPECT_THAT(why(data_, {{"epoch", "3"}}), HasSubstr("did you mean epochs?"));
  EXPECT_THAT(why(data_, {{"optimizer", "adam"}, {"momentum", "0.9"}}), HasSubstr("--momentum"));
}

}  // namespace
}  // namespace hogbatch
