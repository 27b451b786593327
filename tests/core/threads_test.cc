#include "core/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

namespace hogbatch {
namespace {

TEST(StartThread, NamesTheLimitsIfItFails) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NPROC, &before), 0);
  rlimit low = before;
  low.rlim_cur = 4321;
  if (low.rlim_cur > before.rlim_max) GTEST_SKIP() << "this user may start fewer threads";
  ASSERT_EQ(::setrlimit(RLIMIT_NPROC, &low), 0);
  std::string sentence;
  try {
    ThrowNoThread(std::system_error(EAGAIN, std::generic_category(), "thread"));
  } catch (const Error& error) {
    sentence = error.what();
  }
  ::setrlimit(RLIMIT_NPROC, &before);
  EXPECT_NE(sentence.find("cannot start a thread: Resource temporarily unavailable"),
            std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("4321 for this user (ulimit -u)"), std::string::npos) << sentence;
}

TEST(StartThread, RunsItsBody) {
  int ran = 0;
  StartThread([&ran](int by) { ran += by; }, 3).join();
  EXPECT_EQ(ran, 3);
}

}  // namespace
}  // namespace hogbatch
