#include "compare/runs/contestants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/runs/machine.h"
#include "compare/runs/runner.h"
#include "core/error.h"

namespace hogbatch::compare {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

const Problem kDense = {.train_rows = 100,
                        .valid_rows = 10,
                        .loss = "softmax",
                        .optimizer = "sgd",
                        .network = "4 -> 2, relu"};

constexpr const char* kListing = R"({"name": "pytorch", "available": true, "version": "2.1",
  "install": "scripts/baselines pytorch", "variants": [
  {"name": "eager", "for": ["dense", "sparse"], "losses": ["softmax"], "optimizers": ["sgd", "adam"]},
  {"name": "compile", "for": ["dense"], "losses": ["softmax"], "optimizers": ["sgd", "adam"]},
  {"name": "hogwild", "for": ["dense"], "losses": ["softmax"], "optimizers": ["sgd"]}]})";

TEST(Contestants, AsynchronousTrainingIsASideOfItsOwn) {
  const Contestants found = SidesOf("pytorch", "p.py", kListing, kDense);
  ASSERT_EQ(found.sides.size(), 2u);
  EXPECT_EQ(found.sides[0].name, "pytorch");
  EXPECT_THAT(found.sides[0].variants, ElementsAre("eager", "compile"));
  EXPECT_EQ(found.sides[0].updates, Updates::kSynchronous);
  EXPECT_EQ(found.sides[1].name, "pytorch hogwild");
  EXPECT_EQ(found.sides[1].updates, Updates::kAsynchronous);
  EXPECT_EQ(found.sides[1].version, "2.1");
}

TEST(Contestants, OnlyVariantsForTheProblemTakePart) {
  Problem problem = kDense;
  problem.is_sparse = true;
  const Contestants sparse = SidesOf("pytorch", "p.py", kListing, problem);
  ASSERT_EQ(sparse.sides.size(), 1u);
  EXPECT_THAT(sparse.sides[0].variants, ElementsAre("eager"));
  problem.loss = "squared";
  const Contestants none = SidesOf("pytorch", "p.py", kListing, problem);
  EXPECT_THAT(none.sides, IsEmpty());
  EXPECT_THAT(none.absent[0].why, HasSubstr("cannot train on sparse rows with squared loss"));
}

TEST(Contestants, AMissingFrameworkIsNamedWithTheCommandThatInstallsIt) {
  const Contestants found = SidesOf(
      "keras", "k.py", R"({"available": false, "install": "scripts/baselines keras"})", kDense);
  EXPECT_THAT(found.sides, IsEmpty());
  EXPECT_THAT(found.absent[0].why, HasSubstr("install it with: scripts/baselines keras"));
  EXPECT_THAT(SidesOf("keras", "k.py", "Segmentation fault", kDense).absent[0].why,
              HasSubstr("printed no JSON"));
}

TEST(Contestants, AListingOfWrongTypesIsNoSide) {
  const char* kWrong = R"({"available": "yes", "variants": [3, {"name": 1, "for": 2}]})";
  const Contestants found = SidesOf("keras", "k.py", kWrong, kDense);
  EXPECT_THAT(found.sides, IsEmpty());
  EXPECT_THAT(found.absent[0].why, HasSubstr("not installed"));
}

TEST(Contestants, TheProblemIsReadOrRefused) {
  const std::string good = R"({"rows": {"train": 9, "valid": 1, "test": 0}, "features": 4,
    "outputs": 2, "sparse": false, "source": "in", "loss": "softmax", "activation": "relu",
    "hidden": [8, 8]})";
  EXPECT_EQ(ParseProblem(good, "e").network, "4 -> 8 -> 8 -> 2, relu");
  for (const char* number : {"-9", "1e300", "9.5", "18446744073709551615", "\"9\"", "null"}) {
    std::string wrong = good;
    wrong.replace(wrong.find('9'), 1, number);
    EXPECT_THROW(ParseProblem(wrong, "e"), UserError) << number;
  }
}

TEST(Contestants, TheMethodForUnlikeDevicesNeedsAGpu) {
  EXPECT_EQ(OwnSides(Gpus::kNone).size(), 2u);
  EXPECT_EQ(OwnSides(Gpus::kNone)[0].name, kReference);
  EXPECT_EQ(OwnSides(Gpus::kSome)[2].variants[0], "adaptive");
}

TEST(Contestants, AGpuCountsIfItIsTakenByDefault) {
  constexpr const char* kDevices = R"({"devices": [
    {"name": "cpu", "interface": "cpu", "description": "EPYC", "memory_bytes": 8, "cores": 4},
    {"name": "opencl.0", "interface": "opencl", "description": "PoCL", "auto": false},
    {"name": "cuda.0", "interface": "cuda", "description": "A100", "auto": true}]})";
  const MachineFacts facts = MachineFrom(kDevices);
  EXPECT_EQ(facts.cores, 4);
  EXPECT_EQ(facts.gpus, Gpus::kSome);
  EXPECT_EQ(facts.gpu_names, "A100");
  EXPECT_EQ(MachineFrom("none").gpus, Gpus::kNone);
}

class Commands : public testing::Test {
 protected:
  Commands() {
    spec_.training.data = "my data.csv";
    spec_.training.label = "price";
    spec_.training.hidden = {8};
    spec_.out = "/o";
    plan_.variant = "hogbatch";
    plan_.batch = 64;
    plan_.lr = 0.2;
    plan_.seed = 2;
    plan_.seconds = 3;
    plan_.extra_seconds = 1;
    plan_.epochs = 7;
    plan_.eval_every = 0.5;
  }
  Setting MadeSetting() const { return MakeSetting(spec_, {"/bin/hogbatch", "", "py"}, kDense, 4); }

  CompareSpec spec_;
  RunPlan plan_;
};

TEST_F(Commands, OwnRunsStartFromTheExportedWeightsAtTheGivenRate) {
  const auto words = CommandFor(MadeSetting(), OwnSides(Gpus::kNone)[0], plan_);
  EXPECT_THAT(words, IsSupersetOf({"train", "my data.csv", "/o/export/initial-2.safetensors",
                                   "--hidden", "8", "--cpu-batch", "64", "--lr", "0.2",
                                   "--lr-scaling", "none", "--lr-schedule", "constant"}));
  EXPECT_THAT(words, Not(Contains("--label"))) << "the weights know their columns";
}

TEST_F(Commands, ASynchronousUpdateIsSharedAmongTheCores) {
  plan_.variant = "sync";
  EXPECT_THAT(CommandFor(MadeSetting(), OwnSides(Gpus::kNone)[1], plan_),
              IsSupersetOf({"--algorithm", "sync", "--cpu-batch", "16"}));
}

TEST_F(Commands, ThreadsLimitEverySide) {
  spec_.threads = 3;
  const Setting setting = MadeSetting();
  EXPECT_THAT(CommandFor(setting, OwnSides(Gpus::kNone)[0], plan_), Contains("cpu:3"));
  EXPECT_THAT(RunRequest(setting, plan_), HasSubstr("\"threads\": 3"));
  EXPECT_THAT(RunRequest(setting, plan_), HasSubstr("\"device\": \"cpu\""));
}

TEST_F(Commands, ABaselineGetsTheSamePlanInAFile) {
  plan_.stop = 0.53;
  const std::string request = RunRequest(MadeSetting(), plan_);
  for (const char* part :
       {"\"batch\": 64", "\"lr\": 0.2", "\"target_loss\": 0.53", "\"max_seconds\": 3.0",
        "\"eval_every\": 0.5", "\"target_on\": \"valid\"",
        "\"initial\": \"/o/export/initial-2.safetensors\"", "\"threads\": 4"}) {
    EXPECT_THAT(request, HasSubstr(part));
  }
}

TEST(CompareSpec, NamesItsFolderAfterTheData) {
  CompareSpec spec;
  EXPECT_EQ(CompareFolder(spec), "compare-builtin");
  spec.training.data = "/data/w8a.t.xz";
  EXPECT_EQ(CompareFolder(spec), "compare-w8a");
}

TEST(CompareSpec, RefusesWhatCannotBeRight) {
  const auto why_not = [](auto change) -> std::string {
    CompareSpec spec;
    change(spec);
    try {
      PlanOf(spec);
    } catch (const UserError& error) {
      return error.what();
    }
    return "it was taken";
  };
  EXPECT_THAT(why_not([](auto& spec) { spec.against = "tensorflw"; }),
              HasSubstr("did you mean tensorflow?"));
  EXPECT_THAT(why_not([](auto& spec) { spec.budget = "soon"; }),
              HasSubstr("--budget needs a time"));
  EXPECT_THAT(why_not([](auto& spec) { spec.lrs = "0.1,x"; }), HasSubstr("--lrs needs a number"));
  EXPECT_THAT(why_not([](auto& spec) { spec.lrs = "0.1,0"; }),
              HasSubstr("0 is not a learning rate"));
  EXPECT_THAT(why_not([](auto& spec) { spec.lrs = ","; }), HasSubstr("at least one"));
  EXPECT_THAT(why_not([](auto& spec) { spec.against = ","; }), HasSubstr("all or none"));
  EXPECT_THAT(why_not([](auto& spec) { spec.target_loss = "-1"; }), HasSubstr("above 0, or auto"));
  EXPECT_EQ(why_not([](auto&) {}), "it was taken");
}

}  // namespace
}  // namespace hogbatch::compare
