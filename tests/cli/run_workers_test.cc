// The end of a command whose worker hangs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "cli/commands.h"
#include "cli/console.h"
#include "core/error.h"

namespace hogbatch {
namespace {

constexpr int kUnwound = 99;

// What the thread of a worker may use: the process must not outlive it.
struct Used {
  ~Used() { std::_Exit(kUnwound); }
};

int RunHanging(const std::function<int()>& run) {
  const Used used;
  Console console(Verbosity::kPlain);
  return RunWorkers(console, [] { return true; }, run);
}

int Full() { throw Error("the disk is full"); }
int Wrong() { throw UserError("no such file"); }
int Closed() { throw OutputClosed(); }

TEST(RunWorkers, UnwindsIfNoWorkerHangs) {
  Console console(Verbosity::kPlain);
  const auto no = [] { return false; };
  EXPECT_EQ(RunWorkers(console, no, [] { return 7; }), 7);
  EXPECT_THROW(RunWorkers(console, no, Wrong), UserError);
}

TEST(RunWorkers, EndsTheProcessWithTheCodeIfAWorkerHangs) {
  EXPECT_EXIT(RunHanging([] { return 7; }), testing::ExitedWithCode(7), "");
}

TEST(RunWorkers, TellsAnExceptionAsMainDoesIfAWorkerHangs) {
  EXPECT_EXIT(RunHanging(Full), testing::ExitedWithCode(1), "^hogbatch: the disk is full\n$");
  EXPECT_EXIT(RunHanging(Wrong), testing::ExitedWithCode(2), "^hogbatch: no such file\n$");
  EXPECT_EXIT(RunHanging(Closed), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace hogbatch
