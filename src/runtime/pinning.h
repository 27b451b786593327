// Threads and cores.
#pragma once

namespace hogbatch {

// Cores this process may run on: what its container, cgroup or taskset leaves it. Two hardware
// threads of one core are one.
int UsableCores();

// Binds the calling thread to the `index`-th of those cores, counted around if there are fewer.
// Where the system does not allow it the thread stays free: pinning is a help, not a need.
void PinThisThread(int index);

}  // namespace hogbatch
