// One device and many jobs: merges of different jobs overlap, and a job that moves takes its
// optimiser state with it.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "nn/initialize.h"
#include "runtime/workers/worker.h"
#include "tests/support/strict_device.h"

namespace hogbatch {
namespace {

class JobRouters : public testing::TestWithParam<bool> {
 protected:
  static constexpr int kTasks = 12;

  static bool is_distant() { return GetParam(); }

  // Two jobs with different networks on the same rows.
  struct Jobs {
    Jobs() {
      for (const int id : {0, 1}) {
        auto memory = std::make_shared<JobMemory>(
            ModelSpec{.inputs = 20, .hidden = {8 + 4 * id}, .outputs = 2}, data.data, nullptr, 2);
        memory->optimizer.momentum = memory->explicit_momentum = 0.9;
        memory->is_exclusive = true;
        std::vector<float> start(memory->store.idle_weights().size());
        Initialize(memory->store.layout(), Initialization::kHe, 1, start);
        memory->SetWeights(start);
        memories.Add(id, memory);
      }
    }
    std::vector<float> Model(JobId id) const {
      const auto memory = memories.Get(id);
      return {memory->store.idle_weights().begin(), memory->store.idle_weights().end()};
    }

    TrainingData data = MakeSynthetic({.rows = 400, .features = 20});
    JobMemories memories;
  };

  static std::unique_ptr<Worker> Router(WorkerId id, const JobMemories& memories) {
    const DeviceInfo info{.name = "cpu.0", .description = "test", .depth = is_distant() ? 2 : 1};
    std::unique_ptr<Device> device = cpu::MakeDevice(info);
    if (is_distant()) device = MakeStrictDevice(std::move(device));
    return MakeJobRouter(id, std::move(device), memories);
  }

  static Task TaskOf(int job, int number) {
    return {.id = 2 * number + job + 1,
            .job = job,
            .rows = {20 * number, 20 * number + 20},
            .learning_rate = 0.05f};
  }
  static void Do(Worker& worker, const Task& task) {
    worker.Compute(task, 0);
    worker.Commit(task, 0);
    EXPECT_EQ(worker.Finish(task).task, task.id);
  }
  static Task Release(JobId job) { return {.id = 1000, .job = job, .kind = TaskKind::kRelease}; }

  // Each job by itself, on a worker of its own.
  static std::vector<std::vector<float>> Expected() {
    Jobs jobs;
    for (const int job : {0, 1}) {
      const std::unique_ptr<Worker> worker = Router(0, jobs.memories);
      for (int i = 0; i < kTasks; ++i) Do(*worker, TaskOf(job, i));
    }
    return {jobs.Model(0), jobs.Model(1)};
  }
};

TEST_P(JobRouters, TakeTasksOfJobsInTurn) {
  Jobs jobs;
  const std::unique_ptr<Worker> router = Router(0, jobs.memories);
  router->Prepare();
  for (int i = 0; i < kTasks; ++i) {
    for (const int job : {0, 1}) Do(*router, TaskOf(job, i));
  }
  EXPECT_EQ(jobs.Model(0), Expected()[0]);
  EXPECT_EQ(jobs.Model(1), Expected()[1]);
}

// The next batch, of the other job, is computed before the last one is merged.
TEST_P(JobRouters, OverlapMergesOfDifferentJobs) {
  if (!is_distant()) GTEST_SKIP() << "a core has one task at a time";
  Jobs jobs;
  const std::unique_ptr<Worker> router = Router(0, jobs.memories);
  std::optional<Task> pending;
  const auto commit = [&] {
    router->Commit(*pending, 0);
    router->Finish(*pending);
  };
  for (int i = 0; i < kTasks; ++i) {
    for (const int job : {0, 1}) {
      const Task task = TaskOf(job, i);
      router->Compute(task, 0);
      if (pending) commit();
      pending = task;
    }
  }
  commit();
  EXPECT_EQ(jobs.Model(0), Expected()[0]);
  EXPECT_EQ(jobs.Model(1), Expected()[1]);
}

TEST_P(JobRouters, LeaveTheOptimiserStateOfAnExclusiveJobToTheNextWorker) {
  Jobs jobs;
  const std::unique_ptr<Worker> routers[] = {Router(0, jobs.memories), Router(1, jobs.memories)};
  for (int i = 0; i < kTasks; ++i) {
    Worker& router = *routers[i / 3 % 2];
    Do(router, TaskOf(0, i));
    if (i % 3 == 2) Do(router, Release(0));
  }
  EXPECT_EQ(jobs.Model(0), Expected()[0]);
}

// A worker that has nothing of a job still does its part of a pause.
TEST_P(JobRouters, SaveAJobThatTheyDoNotServe) {
  Jobs jobs;
  const std::unique_ptr<Worker> first = Router(0, jobs.memories);
  const std::unique_ptr<Worker> second = Router(1, jobs.memories);
  Do(*first, TaskOf(0, 0));
  Do(*first, Release(0));
  Do(*second, {.id = 5, .job = 0, .kind = TaskKind::kSave});
  const auto memory = jobs.memories.Get(0);
  EXPECT_EQ(memory->saved_weights, jobs.Model(0));
  ASSERT_TRUE(memory->saved_workers[1]);
  EXPECT_EQ(memory->saved_workers[1]->updates, 1);
  Do(*second, {.id = 6, .job = 0, .kind = TaskKind::kRestore, .snapshot = 1});
  EXPECT_FALSE(memory->moved);
  EXPECT_NE(memory->saved_weights, jobs.Model(0));
}

INSTANTIATE_TEST_SUITE_P(All, JobRouters, testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "Distant" : "Core");
});

}  // namespace
}  // namespace hogbatch
