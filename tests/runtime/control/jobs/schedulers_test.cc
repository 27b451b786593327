// Whose batch a worker takes, to the letter: each scheduler with 1 to 64 workers and 1 to 100 jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/random.h"
#include "tests/runtime/control/jobs/fake_queue.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Size {
  int workers;
  int jobs;
};

class SchedulersOfSize : public testing::TestWithParam<Size> {
 protected:
  // Jobs of many sizes, priorities and, if asked for, times of arrival.
  FakeQueue MakeQueue(const std::string& scheduler, double arrivals = 0) const {
    FakeQueue queue{.scheduler = scheduler};
    queue.workers.resize(static_cast<std::size_t>(GetParam().workers));
    Random random(7);
    for (int i = 0; i < GetParam().jobs; ++i) {
      queue.jobs.push_back({.rows = 1500 + 400 * random.Below(5),
                            .priority = static_cast<int>(random.Below(3)),
                            .arrives = arrivals * static_cast<double>(random.Below(4))});
    }
    return queue;
  }

  // The ids of jobs in the order of `key`.
  template <typename Key>
  static std::vector<JobId> SortedBy(const FakeQueue& queue, const Key& key) {
    std::vector<JobId> ids(queue.jobs.size());
    std::iota(ids.begin(), ids.end(), 0);
    std::ranges::stable_sort(
        ids, {}, [&](JobId id) { return key(queue.jobs[static_cast<std::size_t>(id)]); });
    return ids;
  }

  // The places of jobs in an order.
  static std::vector<std::ptrdiff_t> PlacesIn(const std::vector<JobId>& order,
                                              const std::vector<JobId>& jobs) {
    std::vector<std::ptrdiff_t> places;
    for (const JobId job : jobs) {
      places.push_back(std::ranges::find(order, job) - order.begin());
    }
    return places;
  }
};

TEST_P(SchedulersOfSize, FifoServesAJobOnlyWhenAllBeforeItHaveNothingLeft) {
  for (const double arrivals : {0.0, 0.05}) {
    FakeQueue queue = MakeQueue("fifo", arrivals);
    queue.Run();
    const std::vector<JobId> order =
        SortedBy(queue, [](const FakeJob& job) { return std::pair(job.arrives, -job.priority); });
    EXPECT_TRUE(std::ranges::is_sorted(PlacesIn(order, queue.Order())));
    EXPECT_EQ(queue.recorder.began, order);
    queue.ExpectAllTrained();
  }
}

// Two passes over the jobs: all of them up to the limit of a short job, then all to the end.
TEST_P(SchedulersOfSize, LasServesEachJobUpToTheLimitAndThenToTheEnd) {
  FakeQueue queue = MakeQueue("las");
  queue.options.short_seconds = 0.05;
  queue.Run();
  const std::vector<JobId> order =
      SortedBy(queue, [](const FakeJob& job) { return -job.priority; });
  const std::vector<std::ptrdiff_t> places = PlacesIn(order, queue.Order());
  const auto second = std::ranges::is_sorted_until(places);
  EXPECT_TRUE(std::is_sorted(second, places.end()));
  EXPECT_EQ(queue.recorder.began, order);
  if (GetParam().workers == 1 && GetParam().jobs > 1) {
    std::vector<JobId> twice = order;
    twice.insert(twice.end(), order.begin(), order.end());
    EXPECT_EQ(queue.Turns(), twice);
  }
  queue.ExpectAllTrained();
}

// Keeps what a scheduler was asked and what it answered.
class AskedScheduler : public Scheduler {
 public:
  explicit AskedScheduler(std::unique_ptr<Scheduler> inner) : inner_(std::move(inner)) {}

  std::optional<JobId> Choose(const WorkerState& idle, const JobTable& table) override {
    const std::optional<JobId> chosen = inner_->Choose(idle, table);
    answers.push_back({{table.jobs.begin(), table.jobs.end()}, chosen});
    return chosen;
  }

  struct Answer {
    std::vector<JobState> jobs;
    std::optional<JobId> chosen;
  };
  std::vector<Answer> answers;

 private:
  std::unique_ptr<Scheduler> inner_;  // not state: inner_
};

// Probed on one worker, then in the order of remaining seconds.
TEST_P(SchedulersOfSize, SrtfServesTheShortestRemainingTimeOfThoseItCouldServe) {
  FakeQueue queue = MakeQueue("srtf", 0.03);
  AskedScheduler asked(MakeScheduler("srtf"));
  queue.RunWith(asked);
  for (const auto& [jobs, chosen] : asked.answers) {
    ASSERT_TRUE(chosen);
    const auto key = [](const JobState& job) {
      const double left = job.seconds_per_row * static_cast<double>(job.remaining_rows);
      const bool probed = job.seconds_per_row == 0 && job.workers > 0 && job.remaining_rows > 0;
      return std::tuple(probed, left, -job.priority, job.arrived, job.id);
    };
    for (const JobState& job : jobs) {
      const auto& mine = *std::ranges::find(jobs, *chosen, &JobState::id);
      EXPECT_LE(key(mine), key(job));
    }
  }
  queue.ExpectAllTrained();
}

TEST_P(SchedulersOfSize, SrtfEndsJobsInTheOrderOfTheirSizes) {
  FakeQueue queue = MakeQueue("srtf");
  for (std::size_t i = 0; i < queue.jobs.size(); ++i) {
    queue.jobs[i].rows = 2000 + 3000 * static_cast<std::int64_t>((7 * i + 3) % queue.jobs.size());
    if (queue.jobs.size() % 7 == 0) queue.jobs[i].rows = 2000 + 3000 * static_cast<int>(i);
  }
  if (queue.workers.size() > 2) queue.workers.resize(2);  // more end several jobs at one moment
  queue.Run();
  EXPECT_EQ(queue.recorder.ended, SortedBy(queue, [](const FakeJob& job) { return job.rows; }));
}

std::string NameOf(const testing::TestParamInfo<Size>& tested) {
  return std::to_string(tested.param.workers) + "Workers" + std::to_string(tested.param.jobs) +
         "Jobs";
}
INSTANTIATE_TEST_SUITE_P(All, SchedulersOfSize,
                         testing::Values(Size{1, 1}, Size{1, 2}, Size{2, 5}, Size{64, 7}), NameOf);
INSTANTIATE_TEST_SUITE_P(Repeated, SchedulersOfSize,
                         testing::Values(Size{1, 100}, Size{3, 20}, Size{8, 100}, Size{64, 1},
                                         Size{64, 100}),
                         NameOf);

TEST(Schedulers, TakeAWorkerAwayAtTheEndOfATask) {
  for (const std::string name : {"srtf", "las"}) {
    FakeQueue queue{.scheduler = name,
                    .options = {.short_seconds = 1},
                    .jobs = {{.rows = 50000}, {.rows = 1000, .arrives = 2.5}}};
    queue.Run();
    EXPECT_THAT(queue.Turns(), ElementsAre(0, 1, 0)) << name;
    EXPECT_THAT(queue.recorder.ended, ElementsAre(1, 0)) << name;
    EXPECT_LT(queue.ended_at[1], 2.5 + 0.1 + 0.1) << name;
  }
}

TEST(Schedulers, LeaveALaterJobTheWorkersThatAnExclusiveOneCannotUse) {
  FakeQueue queue{.jobs = {{.rows = 5000, .most_workers = 1}, {.rows = 5000}, {.rows = 5000}}};
  queue.workers.resize(3);
  queue.Run();
  std::map<JobId, std::set<WorkerId>> served;
  for (const Task& task : queue.begun) served[task.job].insert(task.worker);
  EXPECT_EQ(served[0].size(), 1u);
  EXPECT_GE(served[1].size(), 2u);
  EXPECT_THAT(queue.recorder.ended, ElementsAre(1, 0, 2));
  queue.ExpectAllTrained();
}

TEST(Schedulers, HaveNamesSummariesAndTraits) {
  EXPECT_THAT(SchedulerNames(), ElementsAre("fifo", "srtf", "las"));
  EXPECT_THAT(SchedulerHelp(), HasSubstr("fifo: jobs run in order of arrival"));
  EXPECT_THAT([] { MakeScheduler("lifo"); },
              testing::ThrowsMessage<UserError>(HasSubstr("there are: fifo, srtf, las")));
}

TEST(Schedulers, ForbidWhatNeedsWorkersThatStay) {
  const auto choose = [](const char* algorithm, const char* scheduler, Sharing sharing) {
    return std::string(ChooseAlgorithmInQueue(algorithm, FindScheduler(scheduler), sharing).name);
  };
  EXPECT_EQ(choose("auto", "las", Sharing::kAnyWorkers), "hogbatch");
  EXPECT_EQ(choose("adaptive", "fifo", Sharing::kAnyWorkers), "adaptive");
  EXPECT_EQ(choose("sync", "srtf", Sharing::kAnyWorkers), "sync");
  EXPECT_EQ(choose("auto", "fifo", Sharing::kExclusive), "hogbatch");
  EXPECT_THROW(choose("adaptive", "las", Sharing::kAnyWorkers), UserError);
  EXPECT_THROW(choose("adaptive", "fifo", Sharing::kExclusive), UserError);
  EXPECT_THROW(choose("sync", "fifo", Sharing::kExclusive), UserError);
}

}  // namespace
}  // namespace hogbatch
