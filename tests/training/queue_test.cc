// Many trainings in one run: what each leaves, and how a queue that was stopped goes on.
#include "training/queue/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "tests/support/observers.h"
#include "training/checkpoint/spec_text.h"
#include "training/queue/job_outcome.h"
#include "training/queue/prepared_job.h"
#include "training/queue/shared_inputs.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

class QueueLog final : public QueueObserver {
 public:
  void OnJobBegan(JobId job) override { began.push_back(job); }
  void OnProgress(JobId job, const Progress& progress) override {
    EXPECT_EQ(progress.job, job);
    rows[job] = progress.examples;
    if (progress.evaluation) ++evaluations[job];
  }
  void OnJobWarning(JobId, std::string_view sentence) override { warnings.emplace_back(sentence); }
  void OnJobEnded(JobId job, const TrainedModel& model, const JobTimes& when) override {
    trained[job] = model;
    times[job] = when;
  }
  void OnWorkerFailed(std::string_view, std::string_view what) override {
    ADD_FAILURE() << "a worker failed: " << what;
  }
  void OnPoll() override {
    if (on_poll) on_poll();
  }

  std::vector<JobId> began;
  std::map<JobId, std::int64_t> rows;
  std::map<JobId, int> evaluations;
  std::map<JobId, TrainedModel> trained;
  std::map<JobId, JobTimes> times;
  std::vector<std::string> warnings;
  std::function<void()> on_poll;
};

class QueueTest : public testing::Test {
 protected:
  QueueTest() : folder_(fs::temp_directory_path() / ("queue-test-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    for (int i = 0; i < 2; ++i) {
      const DeviceInfo info{.name = "cpu." + std::to_string(i), .description = "test"};
      devices_.chosen.push_back({info, [info] { return cpu::MakeDevice(info); }});
    }
    devices_.cores = 2;
    input_ = std::make_shared<TrainingInput>();
    input_->training = MakeSynthetic({.rows = 4000, .features = 20, .valid_fraction = 0});
  }
  ~QueueTest() override { fs::remove_all(folder_); }

  static TrainingSpec SpecOf(std::vector<std::int64_t> hidden) {
    TrainingSpec spec;
    spec.hidden = std::move(hidden);
    spec.epochs = 3;
    spec.report_every = 0.05;
    return spec;
  }

  QueuedJob JobOf(const TrainingSpec& spec, Sharing sharing, const std::string& name) {
    return {.plan = PlanInQueue(spec, *input_, devices_, FindScheduler("fifo"), sharing, quiet_),
            .input = input_,
            .sharing = {.workers = sharing},
            .keep = KeepOptions{
                .folder = (folder_ / name).string(), .options = SpecToJson(spec), .every = 0.05}};
  }

  static QueueOptions Options() { return {.scheduler = "las", .pinning = Pinning::kNone}; }

  fs::path folder_;
  Devices devices_;
  std::shared_ptr<TrainingInput> input_;
  QuietObserver quiet_;
};

TEST_F(QueueTest, TrainsJobsThatShareTheirDataAndKeepsEach) {
  QueueLog log;
  Queue queue(devices_, Options(), log);
  queue.Add(JobOf(SpecOf({32}), Sharing::kAnyWorkers, "a"));
  queue.Add(JobOf(SpecOf({16, 8}), Sharing::kExclusive, "b"));
  TrainingSpec momentum = SpecOf({24});
  momentum.optimizer.momentum = 0.9;
  queue.Add(JobOf(momentum, Sharing::kAnyWorkers, "c"));
  queue.Run();
  ASSERT_THAT(log.trained, SizeIs(3));
  for (const auto& [job, trained] : log.trained) {
    SCOPED_TRACE(job);
    EXPECT_EQ(trained.run.stopped_because, StopReason::kEpochs);
    EXPECT_EQ(trained.run.totals.examples, 12000);
    EXPECT_TRUE(trained.model);
    EXPECT_EQ(log.evaluations[job], 4);
    const std::string name = {"abc"[static_cast<std::size_t>(job)]};
    EXPECT_TRUE(fs::exists(folder_ / name / "model.safetensors"));
    EXPECT_FALSE(ListCheckpoints((folder_ / name).string()).empty());
    const JobTimes& times = log.times[job];
    ASSERT_TRUE(times.began);
    EXPECT_LE(times.arrived, *times.began);
    EXPECT_LT(*times.began, times.ended);
    EXPECT_THAT(times.service, SizeIs(2));
  }
  EXPECT_TRUE(log.warnings.empty()) << log.warnings.front();
}

TEST_F(QueueTest, TakesAndCancelsJobsWhileItRuns) {
  QueueLog log;
  QueueOptions options = Options();
  options.stays_open = true;
  Queue queue(devices_, options, log);
  TrainingSpec endless = SpecOf({64});
  endless.epochs = 1e6;
  queue.Add(JobOf(endless, Sharing::kAnyWorkers, "a"));
  bool stops = false;
  log.on_poll = [&, added = false, cancelled = false]() mutable {
    if (!std::exchange(added, true)) queue.Add(JobOf(SpecOf({8}), Sharing::kExclusive, "b"));
    if (log.trained.contains(1) && !std::exchange(cancelled, true)) queue.Cancel(0);
    stops = log.trained.contains(0);
  };
  queue.Run([&] { return stops; });
  EXPECT_EQ(log.trained[0].run.stopped_because, StopReason::kInterrupted);
  EXPECT_TRUE(log.trained[0].model);
  EXPECT_EQ(log.trained[1].run.stopped_because, StopReason::kEpochs);
}

// Sequential training that is stopped again and again ends with the bits of one that is not.
TEST_F(QueueTest, GoesOnWhereItWasStopped) {
  TrainingSpec spec = SpecOf({48, 32});
  spec.epochs = 6;
  spec.optimizer.momentum = 0.9;
  const auto run = [&](const std::string& name, std::int64_t stop_after, bool resumes) {
    QueueLog log;
    Queue queue(devices_, Options(), log);
    QueuedJob exclusive = JobOf(spec, Sharing::kExclusive, name + "-exclusive");
    QueuedJob other = JobOf(SpecOf({64}), Sharing::kAnyWorkers, name + "-other");
    for (QueuedJob* job : {&exclusive, &other}) {
      const std::vector<std::string> found = ListCheckpoints(job->keep->folder);
      if (!resumes || found.empty()) continue;
      job->resume = std::make_shared<Checkpoint>(ReadCheckpoint(found.front()));
    }
    queue.Add(exclusive);
    queue.Add(other);
    queue.Run([&] { return log.rows[0] > stop_after; });
    return log.trained;
  };
  constexpr std::int64_t kNever = 1 << 30;
  const std::map<JobId, TrainedModel> unbroken = run("unbroken", kNever, false);
  run("broken", 5000, false);
  run("broken", 12000, true);
  const std::map<JobId, TrainedModel> resumed = run("broken", kNever, true);
  EXPECT_EQ(resumed.at(0).run.stopped_because, StopReason::kEpochs);
  EXPECT_EQ(resumed.at(0).run.totals.examples, 24000);
  EXPECT_EQ(resumed.at(0).model->parameters, unbroken.at(0).model->parameters);
  EXPECT_EQ(resumed.at(1).run.totals.examples, 12000);
}

TEST_F(QueueTest, ReadsADataSetOnceForAllJobsThatNameIt) {
  SharedInputs inputs;
  TrainingSpec spec = SpecOf({8});  // the data set that ships with the program
  const auto first = inputs.Read(spec, quiet_);
  spec.hidden = {16};
  spec.learning_rate.lr = 0.5;
  EXPECT_EQ(inputs.Read(spec, quiet_), first);
  spec.valid_fraction = 0.5;
  EXPECT_NE(inputs.Read(spec, quiet_), first);
}

TEST_F(QueueTest, PreparesAJobUnlessItsCheckpointsDoNotFit) {
  SharedInputs inputs;
  const SchedulerInfo& fifo = FindScheduler("fifo");
  JobOptions job{.spec = SpecOf({8}), .resume_from = (folder_ / "a").string()};
  const PreparedJob begins = PrepareJob(job, devices_, fifo, inputs);
  EXPECT_EQ(begins.error, "");
  EXPECT_TRUE(begins.plan && !begins.resume);

  QueueLog log;
  Queue queue(devices_, Options(), log);
  queue.Add(JobOf(SpecOf({8}), Sharing::kAnyWorkers, "a"));
  QueuedJob fits = JobOf(job.spec, Sharing::kAnyWorkers, "b");
  fits.plan = *begins.plan;
  fits.input = begins.input;
  queue.Add(fits);
  queue.Run();
  const PreparedJob refused = PrepareJob(job, devices_, fifo, inputs);
  EXPECT_THAT(refused.error, HasSubstr("the data has changed"));
  EXPECT_FALSE(refused.resume);
  job.resume_from = (folder_ / "b").string();
  EXPECT_TRUE(PrepareJob(job, devices_, fifo, inputs).resume);
  job.spec.hidden = {9};
  EXPECT_THAT(PrepareJob(job, devices_, fifo, inputs).error, HasSubstr("of another network"));
  fs::remove_all(folder_ / "b" / "checkpoints");
  std::ofstream(folder_ / "b" / "checkpoints") << "no folder";
  EXPECT_THAT(PrepareJob(job, devices_, fifo, inputs).error, HasSubstr("cannot be read"));
  job.spec.data = "nowhere.csv";
  EXPECT_THAT(PrepareJob(job, devices_, fifo, inputs).error, HasSubstr("nowhere.csv"));
}

TEST(JobOutcome, HasANameAndFollowsFromWhyTheJobStopped) {
  EXPECT_EQ(FindOutcome(Name(JobOutcome::kInterrupted)), JobOutcome::kInterrupted);
  EXPECT_EQ(FindOutcome("lost"), std::nullopt);
  EXPECT_EQ(OutcomeAfter(StopReason::kPatience), JobOutcome::kDone);
  EXPECT_EQ(OutcomeAfter(StopReason::kPaused), JobOutcome::kStopped);
  EXPECT_EQ(OutcomeAfter(StopReason::kNoWorkers), JobOutcome::kFailed);
}

TEST_F(QueueTest, RefusesWhatTheSchedulerForbids) {
  TrainingSpec spec = SpecOf({8});
  spec.algorithm = "adaptive";
  EXPECT_THROW(
      PlanInQueue(spec, *input_, devices_, FindScheduler("las"), Sharing::kAnyWorkers, quiet_),
      UserError);
  spec.algorithm = "auto";
  EXPECT_EQ(PlanInQueue(spec, *input_, devices_, FindScheduler("las"), Sharing::kAnyWorkers, quiet_)
                .algorithm,
            "hogbatch");
}

}  // namespace
}  // namespace hogbatch
