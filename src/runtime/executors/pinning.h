// Threads and cores.
#pragma once

struct hwloc_topology;

namespace hogbatch {

// The cores this process may run on: what its container, cgroup or taskset leaves it. Two hardware
// threads of one core are one.
class Cores {
 public:
  Cores();
  ~Cores();
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;

  int count() const;

  // Binds the calling thread to the `index`-th core, counted around if there are fewer. Where the
  // system does not allow it the thread stays free: pinning is a help, not a need. May be called by
  // many threads.
  void PinThisThread(int index) const;
  // Keeps it off the first `taken` cores, if that leaves it any.
  void KeepThisThreadOff(int taken) const;

 private:
  hwloc_topology* topology_ = nullptr;  // null where hwloc does not know the machine
};

}  // namespace hogbatch
