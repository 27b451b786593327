// Threads and cores.
#pragma once

struct hwloc_topology;

namespace hogbatch {

// The cores this process may run on, as limited by container, cgroup or taskset. Two hardware
// threads of a core count as one core.
class Cores {
 public:
  Cores();
  ~Cores();
  Cores(const Cores&) = delete;
  Cores& operator=(const Cores&) = delete;

  // How many of them are worth a worker: fewer than there are if a control group limits the
  // processor time.
  int count() const;

  // Binds the calling thread to core `index` modulo the number of cores. Does nothing where the
  // system does not allow it: pinning only helps speed. Thread-safe.
  void PinThisThread(int index) const;
  // Keeps the calling thread off the first `taken` cores, if any other core is left. Thread-safe.
  void KeepThisThreadOff(int taken) const;

 private:
  int all() const;

  hwloc_topology* topology_ = nullptr;  // null where hwloc does not know the machine
};

}  // namespace hogbatch
