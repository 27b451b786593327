// hogbatch queue as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/files.h"
#include "cli/queue/jobs_file.h"
#include "cli/queue/queue_report.h"
#include "core/error.h"
#include "tests/cli/on_gpu.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

std::string Table(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i % 7) + "," + std::to_string(i * i % 11) + "," +
            (i % 7 + i * i % 11 > 8 ? "yes\n" : "no\n");
  }
  return text;
}

TEST(JobsFile, GivesEachJobTheDefaultsAndItsOwn) {
  const std::vector<JobRequest> jobs = ParseJobs(R"([defaults]
epochs = 3
hidden = "8,4"

[[job]]
name = "a"
data = "a.csv"

[[job]]
name = "b"
data = ["b.csv", "c.csv"]
hidden = [16]
no-pin = true
exclusive = true
priority = 2
arrives = 1.5
)",
                                                 "jobs.toml");
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[0].spec.data, "a.csv");
  EXPECT_EQ(jobs[0].spec.epochs, 3);
  EXPECT_THAT(jobs[0].spec.hidden, ElementsAre(8, 4));
  EXPECT_FALSE(jobs[0].exclusive);
  EXPECT_EQ(jobs[1].name, "b");
  EXPECT_EQ(jobs[1].spec.data, "b.csv\nc.csv");
  EXPECT_THAT(jobs[1].spec.hidden, ElementsAre(16));
  EXPECT_TRUE(jobs[1].spec.no_pin);
  EXPECT_TRUE(jobs[1].exclusive);
  EXPECT_EQ(jobs[1].priority, 2);
  EXPECT_EQ(jobs[1].arrives, 1.5);
  EXPECT_EQ(jobs[1].place, "jobs.toml:9");
}

TEST(JobsFile, SaysWhereItIsWrong) {
  const auto parse = [](const char* text) { return [=] { ParseJobs(text, "j.toml"); }; };
  const auto says = [](const char* text) { return ThrowsMessage<UserError>(HasSubstr(text)); };
  EXPECT_THAT(parse("[[job]]\nname = \"a\"\nepoch = 3\n"),
              says("j.toml:3: unknown key epoch; did you mean epochs?"));
  EXPECT_THAT(parse("[[job]]\nname = \"a\"\nexclusiv = true\n"), says("did you mean exclusive?"));
  EXPECT_THAT(parse("[[job]]\ndata = \"a.csv\"\n"), says("j.toml:1: a job needs a name"));
  EXPECT_THAT(parse("[[job]]\nname = \"a\"\n[[job]]\nname = \"a\"\n"),
              says("j.toml:3: there is another job with the name 'a' in j.toml:1"));
  EXPECT_THAT(parse("[[job]]\nname = \"../a\"\n"), says("a job's folder has its name"));
  EXPECT_THAT(parse("[job]\nname = \"a\"\n"), says("write [[job]] with two brackets"));
  EXPECT_THAT(parse("[[jobs]]\nname = \"a\"\n"), says("did you mean job?"));
  EXPECT_THAT(parse("epochs = 1\n"), says("j.toml:1: epochs stands outside of a job"));
  EXPECT_THAT(parse("[defaults]\nname = \"a\"\n[[job]]\nname = \"b\"\n"),
              says("each job needs its own"));
  EXPECT_THAT(parse("[defaults]\nepochs = 1\n"), says("has no job"));
  EXPECT_THAT(parse("[[job]\n"), says("j.toml:1:"));
  EXPECT_THAT(parse("[[job]]\nname = \"a\"\n[job.more]\nepochs = 1\n"), says("is a table"));
  EXPECT_THAT(parse("[[job]]\nname = \"a\"\ndevices = \"cpu\"\n"), says("give --devices instead"));
}

TEST(JobsFile, LeavesAWrongValueToItsJob) {
  const std::vector<JobRequest> jobs =
      ParseJobs("[[job]]\nname = \"a\"\nepochs = \"many\"\n[[job]]\nname = \"b\"\n", "j.toml");
  EXPECT_THAT(jobs[0].error, HasSubstr("j.toml:3: "));
  EXPECT_EQ(jobs[1].error, "");
}

TEST(QueueReport, HasTheMeanAndThe95thPercentileOfCompletionTimes) {
  std::vector<JobRow> rows;
  for (int i = 1; i <= 20; ++i) {
    rows.push_back({.name = "j" + std::to_string(i),
                    .outcome = JobOutcome::kDone,
                    .arrived = 5,
                    .began = 6,
                    .ended = 5.0 + i,
                    .service = {1, 2}});
  }
  EXPECT_EQ(SummaryLines(rows).back(), "completion time of 20 jobs: mean 11s, 95th percentile 19s");
  const std::vector<std::string> devices = {"cpu.0", "cpu.1"};
  const std::vector<JobRow> again =
      ParseQueue(QueueText("fifo", devices, rows), "queue.json", devices).jobs;
  ASSERT_THAT(again, SizeIs(20));
  EXPECT_EQ(again[3].name, "j4");
  EXPECT_EQ(again[3].ended, 9);
  EXPECT_THAT(again[3].service, ElementsAre(1, 2));
}

class QueueProgram : public testing::Test {
 protected:
  QueueProgram() { folder_.Write("rows.csv", Table(3000)); }

  Finished Queue(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "queue");
    return RunProgram(arguments, folder_.path());
  }
  nlohmann::json Json(const std::string& path) const {
    return nlohmann::json::parse(folder_.Read(path));
  }

  TemporaryFolder folder_;
};

TEST_F(QueueProgram, TrainsEveryJobIntoItsFolder) {
  folder_.Write("jobs.toml", R"([defaults]
data = "rows.csv"
epochs = 2
hidden = "8"
[[job]]
name = "first"
[[job]]
name = "second"
exclusive = true
report = true
tensorboard = true
[[job]]
name = "missing"
data = "nowhere.csv"
)");
  const Finished result = Queue({"jobs.toml", "--devices", "cpu:2", "--scheduler", "las",
                                 "--short-job", "0.05", "--out", "q"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("job missing: "));
  EXPECT_THAT(result.out, HasSubstr("completion time of 2 jobs"));
  const nlohmann::json queue = Json("q/queue.json");
  EXPECT_EQ(queue["jobs"][0]["state"], "done");
  EXPECT_EQ(queue["jobs"][1]["state"], "done");
  EXPECT_EQ(queue["jobs"][2]["state"], "failed");
  EXPECT_TRUE(queue["jobs"][0]["service_seconds"].contains("cpu.1"));
  for (const char* name : {"first", "second"}) {
    for (const char* file :
         {"model.safetensors", "summary.json", "metrics.jsonl", "options.json", "config.toml"}) {
      EXPECT_TRUE(folder_.Has(std::string("q/") + name + "/" + file)) << file;
    }
  }
  EXPECT_FALSE(folder_.Has("q/first/report.html"));
  EXPECT_TRUE(folder_.Has("q/second/report.html"));
  EXPECT_TRUE(folder_.Has("q/second/" + std::string(kEventFile)));
  // What is done stays, and what failed is run again.
  folder_.Write("nowhere.csv", Table(500));
  const Finished retried = Queue({"--resume", "q", "--retry", "missing", "--devices", "cpu:1"});
  EXPECT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(Json("q/queue.json")["jobs"][2]["state"], "done");
}

// Jobs come as files, and go with them.
TEST_F(QueueProgram, WatchesAFolderUntilItIsInterrupted) {
  namespace fs = std::filesystem;
  const auto put = [&](const std::string& name, const std::string& text) {
    folder_.Write(name, text);
    fs::rename(folder_.path() + "/" + name, folder_.path() + "/watched/" + name);
  };
  const auto await = [&](const auto& holds) {
    for (int i = 0; i < 3000 && !holds(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(holds());
  };
  const auto state = [&](const std::string& name) {
    if (!folder_.Has("w/queue.json")) return std::string();
    const nlohmann::json queue = Json("w/queue.json");
    for (const nlohmann::json& job : queue["jobs"]) {
      if (job["name"] == name) return job["state"].get<std::string>();
    }
    return std::string();
  };
  fs::create_directory(folder_.path() + "/watched");
  Process process({"queue", "--watch", "watched", "--devices", "cpu:1", "--out", "w"},
                  folder_.path());
  put("one.toml", "[[job]]\ndata = \"rows.csv\"\nhidden = 8\nepochs = 1\n");
  await([&] { return state("one") == "done"; });
  put("wrong.toml", "[[job]]\ndata = 3\nepoch = 1\n");
  // All jobs of a file are taken, or none; a file that is put right is read again.
  const std::string more = "[defaults]\ndata = \"rows.csv\"\nhidden = 8\nepochs = 1\n";
  put("two.toml", more + "[[job]]\nname = \"two\"\n[[job]]\nname = \"one\"\n");
  put("long.toml", "[[job]]\ndata = \"rows.csv\"\nhidden = 8\nepochs = 1000000\n");
  await([&] { return state("long") == "running"; });
  EXPECT_EQ(state("two"), "");
  put("two.toml", more + "[[job]]\nname = \"two\"\n[[job]]\nname = \"three\"\n");
  await([&] { return !state("three").empty(); });
  fs::remove(folder_.path() + "/watched/long.toml");
  await([&] { return state("long") == "interrupted"; });
  EXPECT_TRUE(folder_.Has("w/long/model.safetensors"));
  await([&] { return state("three") == "done"; });
  EXPECT_EQ(state("two"), "done");
  EXPECT_TRUE(process.running());
  process.Signal(SIGINT);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("unknown key epoch; did you mean epochs?"));
  EXPECT_THAT(finished.err, HasSubstr("two.toml:7: there was a job with the name 'one' before"));
}

TEST_F(QueueProgram, GoesOnAfterItWasKilled) {
  folder_.Write("jobs.toml", R"([defaults]
data = "rows.csv"
hidden = 8
epochs = 400
eval-every = 100
[[job]]
name = "first"
[[job]]
name = "second"
exclusive = true
)");
  const std::vector<std::string> arguments = {
      "queue", "jobs.toml", "--scheduler",        "las", "--devices", "cpu:2",
      "--out", "k",         "--checkpoint-every", "0.05"};
  {
    Process process(arguments, folder_.path());
    const std::string first = "k/first/checkpoints/checkpoint-1.safetensors";
    while (process.running() && !folder_.Has(first)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    process.Signal(SIGKILL);
    process.Wait();
  }
  const Finished resumed = Queue({"--resume", "k", "--devices", "cpu:2"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const nlohmann::json queue = Json("k/queue.json");
  EXPECT_EQ(queue["scheduler"], "las");
  ASSERT_THAT(queue["jobs"], SizeIs(2));
  for (const nlohmann::json& job : queue["jobs"]) {
    EXPECT_EQ(job["state"], "done") << job;
    EXPECT_EQ(job["epoch"], 400) << job;
  }
}

TEST_F(QueueProgram, ShowsATableOnATerminal) {
  folder_.Write("jobs.toml", "[[job]]\nname = \"only\"\ndata = \"rows.csv\"\nhidden = 8\n");
  Process process({"queue", "jobs.toml", "--devices", "cpu:1", "--out", "t"}, folder_.path(),
                  Process::Output::kTerminal);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("job   state"));
  EXPECT_THAT(finished.out, HasSubstr("\033[J")) << "it is rewritten in place";
  EXPECT_THAT(finished.out, HasSubstr("completion time of 1 job"));
}

// Six jobs of different data, networks and kinds under every scheduler.
class QueueOnGpu : public Gpu, public testing::WithParamInterface<std::tuple<Ground, const char*>> {
 protected:
  void SetUp() override { Use(std::get<0>(GetParam())); }
};

TEST_P(QueueOnGpu, TrainsSixJobsOnACoreAndAGpu) {
  folder_.Write("rows.csv", Table(1500));
  folder_.Write("rows.svm", TwoClasses(1200));
  folder_.Write("jobs.toml", R"([defaults]
epochs = 2
hidden = 16
[[job]]
name = "csv"
data = "rows.csv"
[[job]]
name = "svm"
data = "rows.svm"
[[job]]
name = "exact"
data = "rows.csv"
hidden = "8,8"
exclusive = true
momentum = 0.9
[[job]]
name = "adam"
data = "rows.svm"
optimizer = "adam"
priority = 3
[[job]]
name = "sync"
data = "rows.csv"
algorithm = "sync"
[[job]]
name = "late"
data = "rows.csv"
arrives = 0.1
)");
  const auto& [ground, scheduler] = GetParam();
  const Finished finished = Run({"queue", "jobs.toml", "--scheduler", scheduler, "--devices",
                                 std::string("cpu:1,") + ground.option, "--out", "q", "--json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const nlohmann::json queue = nlohmann::json::parse(finished.out);
  ASSERT_THAT(queue["jobs"], SizeIs(6));
  for (const nlohmann::json& job : queue["jobs"]) {
    EXPECT_EQ(job["state"], "done") << job;
    EXPECT_EQ(job["epoch"], 2) << job;
  }
}

INSTANTIATE_TEST_SUITE_P(All, QueueOnGpu,
                         testing::Combine(testing::Values(kOnOpenCl, kOnStandin),
                                          testing::Values("fifo", "srtf", "las")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  std::get<1>(tested.param);
                         });

TEST_F(QueueProgram, RefusesWhatMakesNoSense) {
  EXPECT_THAT(Queue({}).err, HasSubstr("queue needs a file of jobs"));
  EXPECT_THAT(Queue({"nowhere.toml"}).err, HasSubstr("nowhere.toml: cannot be read"));
  EXPECT_THAT(Queue({"--resume", "nowhere"}).err, HasSubstr("there is no queue.json"));
  EXPECT_THAT(Queue({"jobs.toml", "--retry", "a"}).err, HasSubstr("--retry needs --resume"));
  EXPECT_THAT(Queue({"jobs.toml", "--scheduler", "lifo"}).err, HasSubstr("fifo"));
}

}  // namespace
}  // namespace hogbatch
