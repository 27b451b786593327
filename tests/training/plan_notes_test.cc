#include "training/plan_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/detected_devices.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<DeviceChoice> CoreChoices(int count) {
  return std::vector<DeviceChoice>(count, DeviceChoice{.info = Processor(), .make = {}});
}

TrainingPlan PlanOnCores(int count, std::int64_t rows) {
  TrainingPlan plan{.work = {.model = {.inputs = 4, .hidden = {3}, .outputs = 2}},
                    .algorithm = "hogbatch"};
  plan.work.devices = CoreChoices(count);
  plan.batches.cpu_batch = {.min = rows, .max = rows};
  return plan;
}

TEST(NotesOnDevices, TellOfMoreWorkersThanCores) {
  EXPECT_THAT(NotesOn(Devices{.chosen = CoreChoices(2), .cores = 2}), IsEmpty());
  EXPECT_THAT(NotesOn(Devices{.chosen = CoreChoices(3), .cores = 2}),
              ElementsAre("3 workers share 2 cores; more workers than cores rarely help"));
}

TEST(NotesOnAPlan, TellOfUpdatesOfOneRowOnSeveralCores) {
  EXPECT_THAT(NotesOn({}, PlanOnCores(1, 1)), IsEmpty());
  EXPECT_THAT(NotesOn({}, PlanOnCores(2, 2)), IsEmpty());
  EXPECT_THAT(NotesOn({}, PlanOnCores(2, 1)), ElementsAre(HasSubstr("at one row per update")));
}

TEST(NotesOnAPlan, TellOfMergeRowsWithoutAGpu) {
  TrainingSpec spec;
  spec.merge_rows *= 2;
  EXPECT_THAT(NotesOn(spec, PlanOnCores(2, 16)),
              ElementsAre(HasSubstr("--merge-rows is for GPUs")));
}

}  // namespace
}  // namespace hogbatch
