#include "runtime/executors/pinning.h"

#include <hwloc.h>

#include <algorithm>
#include <thread>

#include "core/guard/machine_limits.h"

namespace hogbatch {

Cores::Cores() {
  if (hwloc_topology_init(&topology_) != 0) {
    topology_ = nullptr;
    return;
  }
  if (hwloc_topology_load(topology_) != 0) {
    hwloc_topology_destroy(topology_);
    topology_ = nullptr;
    return;
  }
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (bound && hwloc_get_cpubind(topology_, bound, HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_topology_restrict(topology_, bound, 0);
  }
  hwloc_bitmap_free(bound);
}

Cores::~Cores() {
  if (topology_) hwloc_topology_destroy(topology_);
}

int Cores::count() const { return UsableCores(all()); }

int Cores::all() const {
  const int cores = topology_ ? hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE) : 0;
  return cores > 0 ? cores : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void Cores::PinThisThread(int index) const {
  if (!topology_) return;
  const hwloc_obj_t core =
      hwloc_get_obj_by_type(topology_, HWLOC_OBJ_CORE, static_cast<unsigned>(index % all()));
  if (core) hwloc_set_cpubind(topology_, core->cpuset, HWLOC_CPUBIND_THREAD);
}

void Cores::KeepThisThreadOff(int taken) const {
  if (!topology_ || taken <= 0 || taken >= all()) return;
  hwloc_bitmap_t left = hwloc_bitmap_alloc();
  if (!left) return;
  for (int i = taken; i < all(); ++i) {
    const hwloc_obj_t core =
        hwloc_get_obj_by_type(topology_, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    if (core) hwloc_bitmap_or(left, left, core->cpuset);
  }
  if (!hwloc_bitmap_iszero(left)) hwloc_set_cpubind(topology_, left, HWLOC_CPUBIND_THREAD);
  hwloc_bitmap_free(left);
}

}  // namespace hogbatch
