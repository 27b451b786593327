// oneDNN as a yardstick: tests and benchmarks compare with it, hogbatch does not use it.
#pragma once

#include <dlfcn.h>

namespace hogbatch {

// Holds oneDNN's products to one core on the calling thread. oneDNN brings the OpenMP runtime it
// was built with, which is found by name: to link one here could put a second one into the process.
inline void HoldOneDnnToOneThread() {
  thread_local const bool held = [] {
    if (void* symbol = dlsym(RTLD_DEFAULT, "omp_set_num_threads")) {
      reinterpret_cast<void (*)(int)>(symbol)(1);
    }
    return true;
  }();
  static_cast<void>(held);
}

}  // namespace hogbatch
