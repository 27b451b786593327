// The algorithm that CONTRIBUTING.md shows: it compiles, trains, and is what the page says.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/option_checks.h"
#include "tests/runtime/teams_run.h"
#include "tests/support/paths.h"

namespace hogbatch {

// What table.h and algorithms.cc make of a line of the table.
#define ALGORITHM(make, options, ...)                             \
  std::unique_ptr<Algorithm> make(const AlgorithmOptions& given); \
  AnyOptions options();                                           \
  constexpr AlgorithmInfo kExample = {__VA_ARGS__, make, options};
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

// The sizes that a thread and a GPU get. A row takes them 100 us and 5 us.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> SizesWith(const AnyOptions& own) {
  FakeRun run = TeamsRun(10);
  AddThreads(run, 2, {.seconds_per_row = 1e-4, .seconds_per_update = 0});
  AddGpu(run, {.seconds_per_row = 5e-6, .seconds_per_update = 0});
  Watched watched(kExample.make({.cpu_batch = {1, 1024}, .gpu_batch = {16, 8192}, .own = own}));
  run.own_algorithm = &watched;
  run.Run();
  return {watched.sizes(0), watched.sizes(1)};
}

TEST(ExampleAlgorithm, GivesEveryWorkerUpdatesThatTakeTenMilliseconds) {
  const auto [thread, gpu] = SizesWith({});
  EXPECT_EQ(thread, (std::vector<std::int64_t>{1, 100}));
  EXPECT_EQ(gpu, (std::vector<std::int64_t>{16, 2000}));
}

TEST(ExampleAlgorithm, HasAnOptionOfItsOwn) {
  AnyOptions own = kExample.options();
  SetOption([&](OptionVisitor& all) { own.Visit(all); }, "update-ms", "20");
  const auto [thread, gpu] = SizesWith(own);
  EXPECT_EQ(thread, (std::vector<std::int64_t>{1, 200}));
  EXPECT_EQ(gpu, (std::vector<std::int64_t>{16, 4000}));
}

}  // namespace
}  // namespace hogbatch
