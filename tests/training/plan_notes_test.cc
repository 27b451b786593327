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

TEST(NotesOnAPlan, TellOfOptionsOfAnotherOptimizerOrSchedule) {
  const auto notes = [](const char* name, const char* text, const char* optimizer,
                        const char* schedule) {
    TrainingSpec spec;
    spec.optimizer.optimizer = optimizer;
    spec.learning_rate.lr_schedule = schedule;
    SetOption(spec, name, text);
    return NotesOn(spec, PlanOnCores(1, 16));
  };
  EXPECT_THAT(notes("adam-beta1", ".5", "sgd", "cosine"),
              ElementsAre("--adam-beta1 is for --optimizer adam; sgd does not use it"));
  EXPECT_THAT(notes("adam-epsilon", "1e-4", "sgd", "cosine"), ElementsAre(HasSubstr("adam")));
  EXPECT_THAT(notes("no-momentum-correction", "true", "adam", "cosine"),
              ElementsAre(HasSubstr("is for --optimizer sgd")));
  EXPECT_THAT(notes("lr-decay", ".5", "sgd", "cosine"),
              ElementsAre("--lr-decay is for --lr-schedule inverse and step; cosine does not use "
                          "it"));
  EXPECT_THAT(notes("lr-step", "3", "sgd", "inverse"), ElementsAre(HasSubstr("step")));
  EXPECT_THAT(notes("adam-beta1", ".5", "adam", "cosine"), IsEmpty());
  EXPECT_THAT(notes("lr-decay", ".5", "sgd", "inverse"), IsEmpty());
  EXPECT_THAT(notes("lr-step", "3", "sgd", "step"), IsEmpty());
}

}  // namespace
}  // namespace hogbatch
