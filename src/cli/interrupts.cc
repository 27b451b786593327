#include "cli/interrupts.h"

#include <unistd.h>

#include <csignal>

namespace hogbatch {
namespace {

// A signal handler has no argument to reach its state by.
std::atomic<int> interrupts = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void OnInterrupt(int) {
  if (interrupts.fetch_add(1) == 0) return;
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, "\n", 1);
  ::_exit(130);
}

}  // namespace

const std::atomic<int>& CountInterrupts() {
  struct sigaction action{};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);
  return interrupts;
}

}  // namespace hogbatch
