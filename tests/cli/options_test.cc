#include "cli/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "cli/options/command_list.h"
#include "cli/options/parse.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

TrainOptions ParseTrain(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "train");
  return std::get<TrainOptions>(Parse(arguments));
}

std::string HelpOf(const std::vector<std::string>& arguments) {
  return std::get<PrintText>(Parse(arguments)).text;
}

std::string WhyNot(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was taken";
}

// Collects names, and reads every default through the checks that the user's values go through.
class Census final : public OptionVisitor {
 public:
  std::set<std::string> names;

  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view) override {
    Count(name);
    EXPECT_FALSE(value) << name << ": a flag that is on cannot be turned off";
  }
  void Number(std::string_view name, std::int64_t& value, Range range, std::string_view) override {
    Count(name);
    EXPECT_EQ(CheckedInteger(name, std::to_string(value), range), value);
  }
  void Number(std::string_view name, double& value, Range range, std::string_view) override {
    Count(name);
    EXPECT_TRUE(value >= range.min && value <= range.max) << name;
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range range,
               std::string_view) override {
    Count(name);
    EXPECT_EQ(CheckedIntegers(name, Join(value), range), value);
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view) override {
    Count(name);
    EXPECT_EQ(CheckedWord(name, value, words), value);
  }
  void Text(std::string_view name, std::string&, std::string_view, std::string_view) override {
    Count(name);
  }

 private:
  void Count(std::string_view name) {
    EXPECT_TRUE(names.emplace(name).second) << name << " is declared twice";
  }
};

TEST(TrainOptions, AreDeclaredOnceWithDefaultsInTheirOwnRange) {
  TrainOptions options;
  Census census;
  options.Visit(census);
  EXPECT_GT(census.names.size(), 35u);
}

TEST(TrainOptions, EveryOneHasItsLineInHelp) {
  TrainOptions options;
  Census census;
  options.Visit(census);
  const std::string help = HelpOf({"train", "--help"});
  for (const std::string& name : census.names) EXPECT_THAT(help, HasSubstr("  --" + name));
  EXPECT_THAT(help, HasSubstr("(default 0.999)"));
  EXPECT_LT(help.find("Examples:"), help.find("Usage:")) << "a newcomer reads examples first";
}

TEST(TrainOptions, OfTheIssueAreAllThere) {
  TrainOptions options;
  Census census;
  options.Visit(census);
  for (const char* name :
       {"scale",       "positive",   "hidden",       "init",       "epochs",
        "momentum",    "lr",         "lr-batch",     "lr-scaling", "lr-scale-max",
        "lr-schedule", "max-time",   "target-loss",  "patience",   "test",
        "label",       "activation", "loss",         "devices",    "algorithm",
        "cpu-batch",   "gpu-batch",  "weight-decay", "seed",       "report-every",
        "eval-every",  "out",        "quiet",        "json",       "valid-fraction",
        "merge",       "alpha",      "beta",         "adapt-band", "min-utilization"}) {
    EXPECT_TRUE(census.names.contains(name)) << name;
  }
}

// A default, the words and what stands for the value; ranges are those of the one declaration.
TEST(Commands, DeclareTheOptionsTheyShareAlike) {
  const std::set<std::string> shared = {"checkpoint-every", "devices",   "format", "labels",
                                        "memory-limit",     "optimizer", "quiet",  "momentum",
                                        "missing-columns",  "scheduler", "seed"};
  std::map<std::string, ListedOption> first;
  for (const ListedCommand& command : ListCommands()) {
    for (const ListedOption& option : command.options) {
      if (!shared.contains(option.name)) continue;
      const ListedOption& known = first.try_emplace(option.name, option).first->second;
      EXPECT_EQ(option.value, known.value) << command.name << " --" << option.name;
      EXPECT_EQ(option.meta, known.meta) << command.name << " --" << option.name;
    }
  }
  EXPECT_EQ(first.size(), shared.size());
}

TEST(Commands, ThatSaveCheckpointsTakeTheSameIntervals) {
  for (const char* command : {"train", "queue", "sweep"}) {
    EXPECT_NO_THROW(Parse(std::vector<std::string>{command, "--checkpoint-every", "0.002"}));
    EXPECT_EQ(WhyNot([&] { Parse(std::vector<std::string>{command, "--checkpoint-every", "0"}); }),
              "--checkpoint-every must be between 0.001 and 1e+09, not 0");
  }
}

TEST(Commands, AreAllInHelpWithTheirArguments) {
  const std::string help = HelpOf({}), data = HelpOf({"data"});
  for (const std::string& name : CommandNames()) EXPECT_THAT(help, HasSubstr("\n  " + name));
  for (const std::string& name : DataCommandNames()) {
    EXPECT_THAT(data, HasSubstr("\n  hogbatch data " + name + " "));
  }
  EXPECT_THAT(data, HasSubstr("hogbatch data convert DATA OUT  "));
  EXPECT_THAT(HelpOf({"data", "fetch", "--help"}), HasSubstr("handwritten digits"));
}

TEST(Parse, FillsEveryKindOfOption) {
  const TrainOptions options =
      ParseTrain({"mine.csv", "--hidden", "3,4", "--lr=0.5", "--seed", "9", "--activation", "tanh",
                  "--quiet", "--test", "t.csv", "--momentum", "0.9"});
  EXPECT_EQ(options.spec.data, "mine.csv");
  EXPECT_EQ(options.spec.hidden, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(options.spec.learning_rate.lr, 0.5);
  EXPECT_EQ(options.spec.seed, 9);
  EXPECT_EQ(options.spec.activation, "tanh");
  EXPECT_TRUE(options.terminal.quiet);
  EXPECT_EQ(options.spec.test, "t.csv");
  EXPECT_EQ(options.spec.optimizer.momentum, 0.9);
}

TEST(Parse, RefusesBalanceThatCannotBeMeantWithTheRange) {
  EXPECT_EQ(WhyNot([] { ParseTrain({"--alpha", "1"}); }),
            "--alpha must be between 1.01 and 16, not 1");
  EXPECT_EQ(WhyNot([] { ParseTrain({"--beta", "1.5"}); }),
            "--beta must be between 0 and 1, not 1.5");
  EXPECT_EQ(WhyNot([] { ParseTrain({"--adapt-band", "0.6"}); }),
            "--adapt-band must be between 0 and 0.5, not 0.6");
  EXPECT_EQ(WhyNot([] { ParseTrain({"--min-utilization", "0"}); }),
            "--min-utilization must be between 0.01 and 1, not 0");
  EXPECT_EQ(WhyNot([] { ParseTrain({"--merge", "overwite"}); }),
            "--merge takes delta, average, overwrite, not 'overwite'; did you mean overwrite?");
  EXPECT_THAT(
      WhyNot([] { ParseTrain({"--algorithm", "hogbach"}); }),
      testing::AllOf(HasSubstr("--algorithm takes auto, "), HasSubstr("did you mean hogbatch?")));
}

TEST(Parse, TakesTheLastOfARepeatedOption) {
  EXPECT_EQ(ParseTrain({"--epochs", "1", "--epochs", "2"}).spec.epochs, 2);
}

TEST(Parse, TakesTheDataFromAnyPlace) {
  EXPECT_EQ(ParseTrain({"--epochs", "1", "mine.csv", "--quiet"}).spec.data, "mine.csv");
  EXPECT_EQ(ParseTrain({}).spec.data, "");
}

TEST(Parse, WithoutArgumentsPrintsHelp) {
  EXPECT_THAT(HelpOf({}), HasSubstr("hogbatch train"));
  EXPECT_EQ(HelpOf({}), HelpOf({"--help"}));
  for (const char* command : {"eval", "predict", "devices"}) {
    EXPECT_THAT(HelpOf({command, "--help"}), HasSubstr(std::string("Usage: hogbatch ") + command));
  }
}

TEST(Parse, VersionIsANumber) { EXPECT_THAT(HelpOf({"--version"}), HasSubstr("hogbatch 0.")); }

}  // namespace
}  // namespace hogbatch
