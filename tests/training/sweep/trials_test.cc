// What may vary, and which trials come of it.
#include "training/sweep/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

using Texts = std::vector<std::pair<std::string, std::string>>;

// Sets options as a command line does, with the check of each.
class Typed final : public OptionVisitor {
 public:
  explicit Typed(const Texts& texts) : texts_(texts) {}
  void Group(std::string_view) override {}
  void Flag(std::string_view, bool&, std::string_view) override {}
  void Number(std::string_view, std::int64_t&, Range, std::string_view) override { FAIL(); }
  void Number(std::string_view, double&, Range, std::string_view) override { FAIL(); }
  void Numbers(std::string_view, std::vector<std::int64_t>&, Range, std::string_view) override {
    FAIL();
  }
  void Word(std::string_view, std::string&, const Words&, std::string_view) override { FAIL(); }
  void Text(std::string_view name, std::string& value, std::string_view,
            std::string_view) override {
    for (const auto& [given, text] : texts_) {
      if (given == name) value = text;
    }
  }
  void Checked(std::string_view name, std::string& value, const Words&, const TextCheck& check,
               std::string_view) override {
    for (const auto& [given, text] : texts_) {
      if (given != name) continue;
      check(text);
      value = text;
    }
  }

 private:
  Texts texts_;
};

SweepSpec SpecOf(const Texts& texts, const SearchOptions& search = {}) {
  SweptOptions options;
  Typed typed(texts);
  options.Visit(typed);
  return options.Spec(search);
}

std::vector<std::string> TextsOfTrials(const SweepSpec& spec) {
  std::vector<std::string> texts;
  for (const Trial& trial : MakeTrials(spec)) texts.push_back(TrialText(trial));
  return texts;
}

TEST(Trials, OfAnEnsembleDifferInTheirSeedsAndShareTheirRows) {
  const SweepSpec spec = SpecOf({{"seed", "7"}}, {.search = "asha", .ensemble = 3});
  EXPECT_TRUE(spec.is_ensemble());
  EXPECT_THAT(spec.Rungs(), SizeIs(1)) << "no member is stopped early";
  EXPECT_THAT(TextsOfTrials(spec), ElementsAre("--seed 7", "--seed 8", "--seed 9"));
  for (const Trial& trial : MakeTrials(spec)) EXPECT_EQ(trial.spec.split_seed, 7);
  EXPECT_FALSE(SpecOf({{"lr", "0.1|0.2"}}, {.ensemble = 3}).is_ensemble());
}

TEST(Trials, AreAllCombinationsOfAGridTheLastOptionFastest) {
  const SweepSpec spec = SpecOf({{"lr", "0.1|0.2"}, {"hidden", "64,64 | 8"}, {"momentum", "0.9"}});
  EXPECT_EQ(spec.ChosenSearch(), Search::kGrid);
  EXPECT_THAT(TextsOfTrials(spec), ElementsAre("--hidden 64,64 --lr 0.1", "--hidden 64,64 --lr 0.2",
                                               "--hidden 8 --lr 0.1", "--hidden 8 --lr 0.2"));
  const Trial last = MakeTrials(spec).back();
  EXPECT_EQ(last.spec.learning_rate.lr, 0.2);
  EXPECT_THAT(last.spec.hidden, ElementsAre(8));
  EXPECT_EQ(last.spec.optimizer.momentum, 0.9);
}

TEST(Trials, AreTheSameForTheSameSeed) {
  const Texts texts = {{"lr", "log:1e-4:1"}, {"activation", "relu|gelu"}, {"patience", "lin:2:5"}};
  const auto draw = [&](std::int64_t seed) {
    return TextsOfTrials(SpecOf(texts, {.trials = 50, .search_seed = seed}));
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
  EXPECT_THAT(draw(7), SizeIs(50));
}

TEST(Trials, StayWithinTheBoundsOfADistribution) {
  int below = 0;
  std::set<std::int64_t> patience;
  for (const Trial& trial :
       MakeTrials(SpecOf({{"lr", "log:1e-4:1"}, {"patience", "lin:2:5"}}, {.trials = 400}))) {
    const double lr = trial.spec.learning_rate.lr;
    EXPECT_GE(lr, 1e-4);
    EXPECT_LE(lr, 1);
    if (lr < 1e-2) ++below;
    patience.insert(trial.spec.patience);
  }
  EXPECT_NEAR(below, 200, 40);  // half of the orders of magnitude
  EXPECT_THAT(patience, ElementsAre(2, 3, 4, 5));
}

TEST(Trials, AreNeverEqualIfTheyComeFromLists) {
  const std::vector<std::string> texts = TextsOfTrials(
      SpecOf({{"lr", "0.1|0.2|0.3"}, {"seed", "1|2|3"}}, {.search = "random", .trials = 100}));
  EXPECT_THAT(std::set<std::string>(texts.begin(), texts.end()), SizeIs(9));
  EXPECT_THAT(texts, SizeIs(9));
}

TEST(Trials, WithDifferentSeedsShareTheirRows) {
  for (const Trial& trial : MakeTrials(SpecOf({{"seed", "3|4"}}))) {
    EXPECT_EQ(trial.spec.split_seed, 1);
  }
  EXPECT_EQ(MakeTrials(SpecOf({{"seed", "3"}})).front().spec.split_seed, 0);
}

TEST(Trials, WithoutAVariationAreOne) {
  EXPECT_THAT(TextsOfTrials(SpecOf({})), ElementsAre(""));
  // The name of a file may have a bar.
  EXPECT_EQ(SpecOf({{"test", "a|b.csv"}}).base.test, "a|b.csv");
}

TEST(Trials, RefuseWhatCannotBe) {
  const auto make = [](const Texts& texts, const SearchOptions& search = {}) {
    return [=] { MakeTrials(SpecOf(texts, search)); };
  };
  const auto says = [](const char* text) { return ThrowsMessage<UserError>(HasSubstr(text)); };
  EXPECT_THAT(make({{"scale", "minmax|none"}}), says("--scale cannot vary"));
  EXPECT_THAT(make({{"devices", "cpu|cuda:0"}}), says("--devices cannot vary"));
  EXPECT_THAT(make({{"valid-fraction", "lin:0:0.5"}}), says("--valid-fraction cannot vary"));
  EXPECT_THAT(make({{"init", "he|some.safetensors"}}), says("share their rows"));
  EXPECT_THAT(make({{"lr", "0.1|"}}), says("a value is missing"));
  EXPECT_THAT(make({{"lr", "|"}}), says("a value is missing"));
  EXPECT_THAT(make({{"lr", "0.1|0.1"}}), says("0.1 is there twice"));
  EXPECT_THAT(make({{"lr", "0.1|5000"}}), says("--lr must be between 0 and 1000, not 5000"));
  EXPECT_THAT(make({{"lr", "log:0:1"}}), says("log needs bounds above 0"));
  EXPECT_THAT(make({{"lr", "lin:1:1"}}), says("the first bound must be below"));
  EXPECT_THAT(make({{"lr", "lin:1"}}), says("a distribution has two bounds"));
  EXPECT_THAT(make({{"patience", "lin:1:2.5"}}), says("--patience"));
  EXPECT_THAT(make({{"hidden", "lin:1:2"}}), says("--hidden"));
  EXPECT_THAT(make({{"activation", "relu|geluu"}}), says("did you mean gelu?"));
  EXPECT_THAT(make({{"optimizer", "sgd|adam"}, {"momentum", "0.9"}}),
              says("the trial --optimizer adam: --momentum belongs to"));
  EXPECT_THAT(make({{"valid-fraction", "0"}}), says("a sweep compares trials by"));
  EXPECT_THAT(make({{"lr", "lin:0:1"}}, {.search = "grid"}), says("use --search random"));
  EXPECT_THAT(make({{"lr", "1|2|3"}}, {.search = "grid", .trials = 2}), says("--search random"));
  EXPECT_THAT(make({{"epochs", "1|2"}}, {.search = "asha"}), says("--epochs cannot vary"));
  EXPECT_THAT(make({{"lr", "1|2"}}, {.search = "asha", .min_epochs = 5}), says("must be shorter"));
  EXPECT_THAT(make({{"lr", "1|2"}}, {.search = "asha", .min_epochs = 0.5}), says("--eval-every"));
}

TEST(Trials, RefuseABillionOfThem) {
  std::string list = "1";
  for (int i = 2; i <= 1000; ++i) list += "|" + std::to_string(i);
  EXPECT_THAT([&] { MakeTrials(SpecOf({{"seed", list}, {"patience", list}, {"hidden", list}})); },
              ThrowsMessage<UserError>(HasSubstr("1,000,000,000 combinations")));
  EXPECT_THAT(TextsOfTrials(SpecOf({{"seed", list}, {"patience", list}, {"hidden", list}},
                                   {.search = "random", .trials = 5})),
              SizeIs(5));
}

TEST(Trials, OfEqualShapeAreInOneGroup) {
  const auto groups = [](const Texts& texts) { return GroupTrials(MakeTrials(SpecOf(texts))); };
  EXPECT_THAT(groups({{"lr", "0.1|0.2"},
                      {"momentum", "0|0.9"},
                      {"weight-decay", "0|1e-4"},
                      {"seed", "1|2"},
                      {"lr-schedule", "cosine|step"}}),
              SizeIs(1));
  EXPECT_THAT(groups({{"hidden", "8|16"}, {"lr", "0.1|0.2"}}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  for (const auto& texts : {Texts{{"activation", "relu|tanh"}}, Texts{{"optimizer", "sgd|adam"}},
                            Texts{{"cpu-batch", "16|64"}}, Texts{{"epochs", "2|4"}}}) {
    EXPECT_THAT(groups(texts), SizeIs(2));
  }
}

}  // namespace
}  // namespace hogbatch
