// Signals that ask a training to stop.
#pragma once

#include <atomic>
#include <string>

namespace hogbatch {

// From now on SIGINT, SIGTERM and SIGHUP are counted, and the run stops and saves its model. Only a
// SIGINT that comes at least a second after the first SIGINT ends the process at once, with exit
// code 130: schedulers and terminals may repeat a signal at once, while a user presses Ctrl-C again
// later. A signal that the process inherited as ignored (nohup) stays ignored.
const std::atomic<int>& HandleInterrupts();

// How many were counted so far.
int InterruptCount();

// Until then, a signal that ends the program first removes `file` and, if it is then empty,
// `folder`: a run that has read no data yet leaves nothing behind.
void RemoveWhenInterrupted(const std::string& folder, const std::string& file);

}  // namespace hogbatch
