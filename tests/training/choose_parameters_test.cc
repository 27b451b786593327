#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>

#include "core/guard/mapped_faults.h"
#include "tests/support/process.h"
#include "training/cache/mapped_file.h"
#include "training/train.h"

namespace hogbatch {
namespace {

using testing::Each;
using testing::IsEmpty;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A run that ended with 2 everywhere in the model and 1 in the best snapshot, of epoch 1.
class ChooseParametersOf : public testing::Test {
 protected:
  ChooseParametersOf() { Fill(2, 1); }

  void Fill(float store, float snapshot) {
    memory_.MakeSnapshots();
    std::ranges::fill(memory_.store.idle_weights(), store);
    std::ranges::fill(memory_.snapshots[0].span(), snapshot);
  }

  struct Choice {
    std::vector<float> parameters;
    std::optional<Evaluation> saved;
  };
  Choice After(StopReason reason, double epoch, std::optional<SnapshotId> snapshot) const {
    RunResult result;
    result.stopped_because = reason;
    result.totals.epoch = epoch;
    result.totals.updates = static_cast<std::int64_t>(epoch * 100);
    if (snapshot) result.saved = Evaluation{.epoch = 1};
    std::vector<float> parameters = ChooseParameters(memory_, snapshot, result);
    return {std::move(parameters), result.saved};
  }

  Dataset data_;
  JobMemory memory_{{.inputs = 3, .hidden = {}, .outputs = 2}, data_, nullptr, 1};
};

TEST_F(ChooseParametersOf, ARunThatEndedWellIsTheBestSnapshotElseTheModel) {
  const Choice measured = After(StopReason::kEpochs, 5, 0);
  EXPECT_THAT(measured.parameters, Each(1.0f));
  EXPECT_TRUE(measured.saved);
  EXPECT_THAT(After(StopReason::kEpochs, 5, std::nullopt).parameters, Each(2.0f));
}

TEST_F(ChooseParametersOf, ARunWithoutWorkersIsTheModelSoFar) {
  const Choice result = After(StopReason::kNoWorkers, 1.5, 0);
  EXPECT_EQ(result.parameters.size(), memory_.store.idle_weights().size());
  EXPECT_THAT(result.parameters, Each(2.0f));
  EXPECT_FALSE(result.saved);  // what is known is of another model
  EXPECT_THAT(After(StopReason::kNoWorkers, 0.5, std::nullopt).parameters, Each(2.0f));
}

TEST_F(ChooseParametersOf, ARunWithoutWorkersIsTheSnapshotWhereTheModelIsNoNewerOrNoModel) {
  const Choice same = After(StopReason::kNoWorkers, 1, 0);
  EXPECT_THAT(same.parameters, Each(1.0f));
  EXPECT_TRUE(same.saved);
  Fill(kNaN, 1);
  EXPECT_THAT(After(StopReason::kNoWorkers, 1.5, 0).parameters, Each(1.0f));
}

TEST_F(ChooseParametersOf, ARunThatLostItsRowsIsNeverTheModelOfTheEnd) {
  const TemporaryFolder folder;
  const std::string path =
      folder.path() + "/" + folder.Write("rows", std::string(std::size_t{1} << 16, 'x'));
  const auto file = std::make_shared<const MappedFile>(path);
  const std::span<const float> rows(reinterpret_cast<const float*>(file->bytes().data()),
                                    file->bytes().size() / sizeof(float));
  data_.dense = Array<float>(rows, file);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), 0.0f), 0);
  EXPECT_THAT(After(StopReason::kNoWorkers, 1.5, 0).parameters, Each(1.0f));
  EXPECT_THAT(After(StopReason::kMaxTime, 1.5, 0).parameters, Each(1.0f));
  for (const StopReason reason : {StopReason::kNoWorkers, StopReason::kMaxTime}) {
    EXPECT_THROW(After(reason, 1.5, std::nullopt), MappingLost);
  }
}

TEST_F(ChooseParametersOf, ARunThatNeverTrainedIsNothing) {
  EXPECT_THAT(After(StopReason::kNoWorkers, 0, std::nullopt).parameters, IsEmpty());
  EXPECT_THAT(After(StopReason::kNoWorkers, 0, 0).parameters, IsEmpty());
}

TEST_F(ChooseParametersOf, ARunThatDivergedIsTheSnapshotBeforeOrNothing) {
  EXPECT_THAT(After(StopReason::kDiverged, 2, 0).parameters, Each(1.0f));
  EXPECT_THAT(After(StopReason::kDiverged, 2, std::nullopt).parameters, IsEmpty());
  Fill(kNaN, kNaN);
  EXPECT_THAT(After(StopReason::kEpochs, 2, std::nullopt).parameters, IsEmpty());
}

}  // namespace
}  // namespace hogbatch
