// A run that is resumed from a checkpoint ends with the same bits as the run that went on. In
// virtual time every run is exact, so all that a checkpoint leaves out shows.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/process.h"
#include "tests/training/small_training.h"
#include "training/checkpoint/json_state.h"

namespace hogbatch {
namespace {

class Resume : public testing::TestWithParam<Case> {};

TEST_P(Resume, EndsWithTheSameBitsFromEveryCheckpoint) {
  SmallTraining training(GetParam());
  const auto whole = training.Run();
  ASSERT_GE(whole.checkpoints.size(), 4u);
  for (std::size_t i = 0; i < whole.checkpoints.size(); ++i) {
    const auto resumed = training.Run(&whole.checkpoints[i]);
    EXPECT_EQ(resumed.examples, whole.examples) << "checkpoint " << i;
    EXPECT_TRUE(resumed.weights == whole.weights) << "checkpoint " << i;
    EXPECT_TRUE(resumed.saved == whole.saved) << "checkpoint " << i;
  }
}

TEST_P(Resume, EndsWithTheSameBitsFromAFile) {
  SmallTraining training(GetParam());
  const auto whole = training.Run();
  const Checkpoint& taken = whole.checkpoints[3];
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/checkpoint.safetensors";
  WriteCheckpoint(path, {.texts = taken.texts,
                         .weights = taken.weights,
                         .best = taken.best,
                         .workers = taken.workers});
  const Checkpoint read = ReadCheckpoint(path);
  EXPECT_TRUE(training.Run(&read).weights == whole.weights);
}

INSTANTIATE_TEST_SUITE_P(
    All, Resume,
    testing::Values(Case{"hogbatch", kSgd}, Case{"hogbatch", kMomentum}, Case{"hogbatch", kAdam},
                    Case{"hogbatch", kDecay, 5}, Case{"hogbatch", kAdamW, 5},
                    Case{"adaptive", kSgd, 0, 1}, Case{"adaptive", kAdam, 5, 2},
                    Case{"adaptive", kMomentum, 5, 1}, Case{"sync", kSgd}, Case{"sync", kAdam},
                    Case{"sync", kMomentum, 5, 1}, Case{"sync", kAdamW, 5, 2}),
    [](const testing::TestParamInfo<Case>& tested) {
      const Case& c = tested.param;
      return c.algorithm + "_" + c.optimizer.optimizer +
             (c.optimizer.momentum > 0 ? "_momentum" : "") +
             (c.optimizer.weight_decay > 0 ? "_decay" : "") + (c.nonzeros > 0 ? "_sparse" : "") +
             (c.distant > 0 ? "_" + std::to_string(c.distant) + "distant" : "");
    });

// A checkpoint's file after `from` in it became `to`.
std::string Changed(const TemporaryFolder& folder, const std::string& from, const std::string& to) {
  const std::vector<float> weights(3, .5f);
  const std::string path = folder.path() + "/checkpoint";
  WriteCheckpoint(path, {.texts = {.options = "{}", .data = "rows-17", .control = "{}"},
                         .weights = weights,
                         .best = {},
                         .workers = {}});
  std::string content = folder.Read("checkpoint");
  const std::size_t place = content.find(from);
  if (place == std::string::npos) ADD_FAILURE() << from;
  folder.Write("checkpoint", content.replace(place, from.size(), to));
  return path;
}

TEST(CheckpointFile, WithAChangedTextIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadCheckpoint(Changed(folder, "rows-17", "rows-17")).texts.data, "rows-17");
  EXPECT_THROW(ReadCheckpoint(Changed(folder, "rows-17", "rows-18")), UserError);
}

TEST(CheckpointFile, OfTheFirstFormatHasNoChecksumsOfTexts) {
  const TemporaryFolder folder;
  const std::string path = Changed(folder, R"("version":"2")", R"("version":"1")");
  std::string content = folder.Read("checkpoint");
  content.replace(content.find("rows-17"), 7, "rows-18");
  folder.Write("checkpoint", content);
  EXPECT_EQ(ReadCheckpoint(path).texts.data, "rows-18");
}

TEST(CheckpointFile, OfANewerFormatIsRefused) {
  const TemporaryFolder folder;
  const std::string path = Changed(folder, R"("version":"2")", R"("version":"3")");
  try {
    ReadCheckpoint(path);
    FAIL() << "a checkpoint of a newer format was read";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), path +
                                " was written by a newer hogbatch (format 3; this one reads up "
                                "to 2): update hogbatch");
  }
}

// An element of a list that takes much memory.
struct Counted {
  Counted() { ++made; }
  void VisitState(StateVisitor& visitor) { Visit(visitor, "number", number); }
  static inline int made = 0;
  int number = 0;
};

TEST(State, OfAListTakesNoMemoryForElementsThatAreNotThere) {
  std::string text = R"({"list":[{"number":1},{"number":2})";
  for (int i = 0; i < 1000; ++i) text += ",0";
  std::vector<Counted> list;
  EXPECT_THROW(StateFromJson(text + "]}", "in",
                             [&](StateVisitor& visitor) { Visit(visitor, "list", list); }),
               UserError);
  EXPECT_EQ(Counted::made, 2);
  EXPECT_EQ(list.at(1).number, 2);
}

TEST(ResumeWithMoreEpochs, TrainsTheRowsThatAreStillToCome) {
  SmallTraining training({"hogbatch", kSgd});
  const auto whole = training.Run();
  training.plan_.rules.epochs = 5;
  const auto longer = training.Run(&whole.checkpoints.back());
  EXPECT_EQ(longer.examples, whole.examples / 3 * 5);
}

TEST(ResumeOnOtherDevices, KeepsModelAndRowsAndStartsTheWorkersAnew) {
  SmallTraining training({"adaptive", kAdam, 0, 1});
  const auto whole = training.Run();
  training.plan_.work.devices.pop_back();
  const auto resumed = training.Run(&whole.checkpoints[2]);
  EXPECT_EQ(resumed.examples, whole.examples);
}

// The checkpoint with another value at a place of its state.
Checkpoint With(Checkpoint checkpoint, const std::string& place, const std::string& value) {
  auto control = nlohmann::json::parse(checkpoint.texts.control);
  control.at(nlohmann::json::json_pointer(place)) = nlohmann::json::parse(value);
  checkpoint.texts.control = control.dump();
  return checkpoint;
}

TEST(ResumeFromAWrongState, IsRefused) {
  SmallTraining training({"adaptive", kSgd, 0, 1});
  const Checkpoint good = training.Run().checkpoints[2];
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"/job/cursor/handed_out", "-1"},
      {"/job/cursor/handed_out", "9223372036854775807"},
      {"/job/cursor/epoch", "-2"},
      {"/job/cursor/blocks", R"([{"begin":-5,"end":10}])"},
      {"/job/cursor/blocks", R"([{"begin":0,"end":1000000}])"},
      {"/job/cursor/blocks", R"([{"begin":5,"end":5}])"},
      {"/job/cursor/returned", R"([{"rows":{"begin":9,"end":3},"epoch":0}])"},
      {"/job/examples", "-1"},
      {"/job/examples", "1.5"},
      {"/evaluations/best_snapshot/id", "2"},
      {"/evaluations/best_snapshot/id", "4294967296"},
      {"/workers/states", "[]"},
      {"/workers/states/0/updates", "-1"},
      {"/workers/states/0/seconds_per_row", "-1"},
      {"/next_id", "1152921504606846976"},
      {"/meter", "[]"},
  };
  for (const auto& [place, value] : changes) {
    const Checkpoint wrong = With(good, place, value);
    EXPECT_THROW(training.Run(&wrong), UserError) << place << " " << value;
  }
  Checkpoint fewer = good;
  fewer.workers.pop_back();
  EXPECT_THROW(training.Run(&fewer), UserError);
  Checkpoint other = good;
  other.weights.pop_back();
  EXPECT_THROW(training.Run(&other), UserError);
}

TEST(ResumeFromAWrongState, BeginsWithBatchSizesAnewIfThoseDoNotFitTheWorkers) {
  SmallTraining training({"adaptive", kSgd, 0, 1});
  const auto whole = training.Run();
  for (const char* place : {"/algorithm/teams", "/algorithm/holds", "/algorithm/reported"}) {
    const Checkpoint wrong = With(whole.checkpoints[2], place, "[]");
    EXPECT_EQ(training.Run(&wrong).examples, whole.examples) << place;
  }
}

}  // namespace
}  // namespace hogbatch
