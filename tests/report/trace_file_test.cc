#include "report/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace hogbatch::report {
namespace {

using Json = nlohmann::json;

// Two workers that began at second 100.
RunTrace Recorded() {
  RunTrace trace(2);
  trace.Begin(100);
  trace.of(0).Add({.begin = 100, .end = 100.5, .rows = 64, .updates = 4, .merges = 4});
  trace.of(0).Add({.begin = 100.75, .end = 101, .rows = 90, .activity = Activity::kEvaluation});
  trace.of(1).Add({.begin = 100.25, .end = 100.3, .activity = Activity::kSnapshot});
  trace.of(1).Add({.begin = 100.3, .end = 100.4, .activity = Activity::kApplying});
  return trace;
}

Json Written(const RunTrace& trace, std::vector<std::string> workers) {
  std::string text;
  const ThroughputSample samples[] = {{1, 5000}};
  WriteTrace(trace, workers, samples, [&](std::string_view part) { text += part; });
  return Json::parse(text);
}

std::vector<Json> EventsOf(const Json& file, const std::string& phase, const std::string& name) {
  std::vector<Json> events;
  for (const Json& event : file["traceEvents"]) {
    if (event["ph"] == phase && event["name"] == name) events.push_back(event);
  }
  return events;
}

// What the Trace Event Format demands of each kind of event.
TEST(TraceFile, HasTheFieldsOfTheFormat) {
  const Json file = Written(Recorded(), {"cpu.0", "cuda \"1\""});
  const std::map<std::string, std::vector<const char*>> demanded = {
      {"X", {"name", "cat", "ts", "dur", "pid", "tid", "args"}},
      {"C", {"name", "ts", "pid", "args"}},
      {"M", {"name", "pid", "tid", "args"}}};
  for (const Json& event : file["traceEvents"]) {
    ASSERT_TRUE(demanded.contains(event["ph"])) << event;
    for (const char* field : demanded.at(event["ph"])) EXPECT_TRUE(event.contains(field)) << event;
    EXPECT_GE(event.value("ts", 0.0), 0);
    EXPECT_GE(event.value("dur", 0.0), 0);
  }
  EXPECT_EQ(file["displayTimeUnit"], "ms");
}

TEST(TraceFile, ShowsTasksInMicrosecondsSinceTrainingBegan) {
  const Json file = Written(Recorded(), {"cpu.0", "cpu.1"});
  const Json train = EventsOf(file, "X", "train").at(0);
  EXPECT_EQ(train["ts"], 0);
  EXPECT_EQ(train["dur"], 5e5);
  EXPECT_EQ(train["args"], Json::parse(R"({"rows":64,"updates":4,"merges":4,"batch_size":16})"));
  EXPECT_EQ(EventsOf(file, "X", "evaluate").at(0)["args"]["rows"], 90);
  EXPECT_EQ(EventsOf(file, "X", "snapshot").at(0)["tid"], 2);
  EXPECT_EQ(EventsOf(file, "X", "apply").size(), 1u);
  EXPECT_EQ(EventsOf(file, "C", "batch size cpu.0").at(0)["args"]["rows"], 16);
  EXPECT_EQ(EventsOf(file, "C", "rows/s").at(0)["ts"], 1e6);
}

TEST(TraceFile, ShowsGapsAsWaiting) {
  const std::vector<Json> waits = EventsOf(Written(Recorded(), {"cpu.0", "cpu.1"}), "X", "wait");
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0]["ts"], 5e5);
  EXPECT_EQ(waits[0]["dur"], 2.5e5);
  EXPECT_EQ(waits[1]["ts"], 0) << "a worker waits from the beginning to its first task";
}

TEST(TraceFile, LetsNoTaskOverlapTheOneBefore) {
  RunTrace trace(1);
  trace.of(0).Add({.begin = 0, .end = 1.000002});
  trace.of(0).Add({.begin = 1, .end = 2});
  const std::vector<Json> tasks = EventsOf(Written(trace, {"a"}), "X", "train");
  EXPECT_EQ(tasks.at(1)["ts"], tasks.at(0)["dur"]);
  EXPECT_EQ(tasks.at(1)["ts"].get<double>() + tasks.at(1)["dur"].get<double>(), 2e6);
}

TEST(TraceFile, NamesThreadsAfterWorkers) {
  const std::vector<Json> names =
      EventsOf(Written(Recorded(), {"cpu.0", "a \"b\" \xff"}), "M", "thread_name");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0]["args"]["name"], "cpu.0");
  EXPECT_EQ(names[1]["args"]["name"], "a \"b\" \uFFFD");
}

TEST(RunTrace, TakesNoMoreMemoryThanItWasGiven) {
  RunTrace trace(2, 10);
  for (int i = 0; i < 8; ++i) trace.of(0).Add({.begin = 1.0 * i, .end = i + 0.5});
  EXPECT_EQ(trace.workers()[0].spans().size(), 5u);
  EXPECT_EQ(trace.workers()[0].left_out(), 3);
  EXPECT_EQ(Written(trace, {"a", "b"})["otherData"]["tasks_left_out"], "3");
}

}  // namespace
}  // namespace hogbatch::report
