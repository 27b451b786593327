// The algorithm that CONTRIBUTING.md shows: it compiles, trains, and is what the page says.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/runtime/teams_run.h"
#include "tests/support/paths.h"

namespace hogbatch {

// What table.h and algorithms.cc make of a line of the table.
#define ALGORITHM(make, ...)                                      \
  std::unique_ptr<Algorithm> make(const AlgorithmOptions& given); \
  constexpr AlgorithmInfo kExample = {__VA_ARGS__, make};
#include "examples/proportional.inc"
#undef ALGORITHM

namespace {

std::string TextOf(const std::string& path) {
  std::ifstream file(InSource(path), std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ExampleAlgorithm, IsTheOneInTheContributorsGuide) {
  const std::string guide = TextOf("CONTRIBUTING.md");
  for (const std::string path : {"examples/proportional.cc", "examples/proportional.inc"}) {
    EXPECT_NE(guide.find("```cpp\n" + TextOf(path) + "```\n"), std::string::npos)
        << "CONTRIBUTING.md does not show " << path << " as it is";
  }
}

// A row takes a thread 100 us and a GPU 5 us.
TEST(ExampleAlgorithm, GivesEveryWorkerUpdatesThatTakeTenMilliseconds) {
  FakeRun run = TeamsRun(10);
  AddThreads(run, 2, {.seconds_per_row = 1e-4, .seconds_per_update = 0});
  AddGpu(run, {.seconds_per_row = 5e-6, .seconds_per_update = 0});
  Watched watched(kExample.make({.cpu_batch = {1, 1024}, .gpu_batch = {16, 8192}}));
  run.own_algorithm = &watched;
  run.Run();
  EXPECT_EQ(watched.sizes(0), (std::vector<std::int64_t>{1, 100}));
  EXPECT_EQ(watched.sizes(1), (std::vector<std::int64_t>{16, 2000}));
}

}  // namespace
}  // namespace hogbatch
