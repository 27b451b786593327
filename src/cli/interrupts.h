// Ctrl-C, politely.
#pragma once

#include <atomic>

namespace hogbatch {

// From now on the first SIGINT, SIGTERM or SIGHUP is only counted, so that the run can save its
// model; the second ends the process with 130 at once.
const std::atomic<int>& CountInterrupts();

}  // namespace hogbatch
