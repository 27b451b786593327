// Ensembles as a user trains and uses them.
#include "training/model/ensemble.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "tests/cli/sweep/sweep_program.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class EnsembleProgram : public SweepProgram {
 protected:
  // The probability of the first class, by row.
  std::vector<double> Probabilities(const std::string& model) const {
    const Finished predicted = Run({"predict", model, "rows.svm", "--probabilities"});
    EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
    std::vector<double> values;
    for (const std::string& line : SplitLines(predicted.out)) {
      if (!line.starts_with("label")) values.push_back(std::stod(line.substr(line.find(',') + 1)));
    }
    return values;
  }
};

TEST_F(EnsembleProgram, PredictsTheMeanOfItsMembers) {
  const Finished trained = Run({"train", "rows.svm", "--ensemble", "3", "--hidden", "8", "--epochs",
                                "2", "--devices", "cpu:2", "--test", "rows.svm", "--out", "e"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("ensemble  3 members with seeds from 1 on"));
  EXPECT_THAT(trained.out, HasSubstr("ensemble  3 members: validation loss "));
  EXPECT_THAT(trained.out, HasSubstr("; test loss "));
  const std::vector<double> mean = Probabilities("e/model.safetensors");
  std::vector<std::vector<double>> members;
  for (const char* path : {"1", "2", "3"}) {
    members.push_back(Probabilities(fmt::format("e/members/{}.safetensors", path)));
  }
  ASSERT_THAT(mean, SizeIs(2000));
  EXPECT_NE(members[0], members[1]);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i], (members[0][i] + members[1][i] + members[2][i]) / 3, 2e-6) << i;
  }

  const Finished eval = Run({"eval", "e/model.safetensors", "rows.svm", "--json"});
  ASSERT_EQ(eval.exit_code, 0) << eval.err;
  const auto json = nlohmann::json::parse(eval.out);
  EXPECT_THAT(json["members"], SizeIs(3));
  EXPECT_TRUE(json["members"][0].contains("accuracy"));
  EXPECT_THAT(Run({"inspect", "e/model.safetensors"}).out, HasSubstr("members         3"));
  const Finished start =
      Run({"train", "rows.svm", "--hidden", "8", "--init", "e/model.safetensors", "--out", "x"});
  EXPECT_EQ(start.exit_code, 2);
  EXPECT_THAT(start.err, HasSubstr("it is an ensemble"));
}

TEST_F(EnsembleProgram, FollowsASearchWithTheOptionsOfTheBestTrial) {
  const Finished swept =
      Run({"sweep", "rows.svm", "--lr", "0.0001|0.05", "--hidden", "8", "--epochs", "2",
           "--devices", "cpu:2", "--ensemble", "2", "--out", "s", "--json"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const auto json = nlohmann::json::parse(swept.out);  // the ensemble alone
  EXPECT_THAT(json["members"], SizeIs(2));
  EXPECT_EQ(LoadModel(folder_.path() + "/s/model.safetensors").spec.lanes, 2);
  EXPECT_THAT(folder_.Read("s/ensemble/trials.jsonl"), HasSubstr("\"lr\":\"0.05\""));
  const Finished again = Run({"sweep", "--resume", "s", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["valid_loss"], json["valid_loss"]);
}

TEST_F(EnsembleProgram, GoesOnAfterItWasInterrupted) {
  const Finished stopped =
      StopAfterCheckpoint({"train", "rows.svm", "--ensemble", "3", "--hidden", "16", "--epochs",
                           "1000", "--devices", "cpu:1", "--out", "i", "--checkpoint-every", "0.1"},
                          "i", 1, SIGINT);
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("hogbatch sweep --resume i"));
  const Finished resumed = Run({"sweep", "--resume", "i"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("ensemble  3 members: "));
  EXPECT_EQ(LoadModel(folder_.path() + "/i/model.safetensors").spec.lanes, 3);
}

TEST_F(EnsembleProgram, RefusesWhatItCannotDo) {
  const auto why_not = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train", "rows.svm", "--out", "no"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = Run(words);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_FALSE(folder_.Has("no"));
    return finished.err;
  };
  EXPECT_THAT(why_not({"--ensemble", "1"}), HasSubstr("at least two members"));
  EXPECT_THAT(why_not({"--ensemble", "1000000"}), HasSubstr("--ensemble"));
  EXPECT_THAT(why_not({"--ensemble", "3", "--trace", "t"}), HasSubstr("leave out --trace"));
  EXPECT_THAT(why_not({"--ensemble", "3", "--valid-fraction", "0"}), HasSubstr("validation"));
}

}  // namespace
}  // namespace hogbatch
