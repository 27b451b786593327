#include "cli/interrupts.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace hogbatch {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

// Globals, because a signal handler gets no pointer to its state.
std::atomic<int> interrupts = 0;
std::atomic<std::int64_t> first_sigint = 0;  // nanoseconds of the monotonic clock; 0: none yet
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// Async-signal-safe, like everything else in the handler.
std::int64_t Now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kNanoseconds + now.tv_nsec;
}

bool StopsAtOnce(int signal) {
  if (signal != SIGINT) return false;
  const std::int64_t now = Now();
  std::int64_t first = 0;
  if (first_sigint.compare_exchange_strong(first, now)) return false;
  return now - first >= kNanoseconds;
}

extern "C" void OnInterrupt(int signal) {
  const int error = errno;
  interrupts.fetch_add(1);
  if (StopsAtOnce(signal)) {
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, "\n", 1);
    ::_exit(128 + SIGINT);
  }
  errno = error;
}

void Handle(int signal) {
  struct sigaction inherited{};
  ::sigaction(signal, nullptr, &inherited);
  if (inherited.sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

const std::atomic<int>& CountInterrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) Handle(signal);
  return interrupts;
}

}  // namespace hogbatch
