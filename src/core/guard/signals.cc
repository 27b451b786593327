#include "core/guard/signals.h"

#include <csignal>

namespace hogbatch {

void HandleUnlessIgnored(int signal, void (*handler)(int), int flags) {
  struct sigaction inherited{};
  ::sigaction(signal, nullptr, &inherited);
  if (inherited.sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace hogbatch
