#include "cli/interrupts.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "core/guard/signals.h"

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
    pollfd reader{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&reader, 1, 0) > 0) {
      [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, "\n", 1);
    }
    ::_exit(128 + SIGINT);
  }
  errno = error;
}

// The folder of RemoveWhenInterrupted, and the one file in it.
std::array<char, PATH_MAX> unused_folder{};
std::array<char, PATH_MAX> unused_file{};

extern "C" void OnEarlyInterrupt(int signal) {
  ::unlink(unused_file.data());
  ::rmdir(unused_folder.data());
  ::raise(signal);  // SA_RESETHAND: it ends the program
}

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

void RemoveWhenInterrupted(const std::string& folder, const std::string& file) {
  if (std::max(folder.size(), file.size()) >= PATH_MAX) return;
  std::ranges::copy(folder, unused_folder.begin());
  std::ranges::copy(file, unused_file.begin());
  for (const int signal : kSignals) {
    HandleUnlessIgnored(signal, OnEarlyInterrupt, static_cast<int>(SA_RESETHAND | SA_NODEFER));
  }
}

const std::atomic<int>& HandleInterrupts() {
  for (const int signal : kSignals) HandleUnlessIgnored(signal, OnInterrupt, SA_RESTART);
  return interrupts;
}

int InterruptCount() { return interrupts; }

}  // namespace hogbatch
