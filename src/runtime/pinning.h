// Threads and cores.
#pragma once

namespace hogbatch {

// Binds the calling thread to the `index`-th core this process may use, counted around if there are
// fewer. Where the system does not allow it the thread stays free: pinning is a help, not a need.
void PinThisThread(int index);

}  // namespace hogbatch
