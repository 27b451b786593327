#include "runtime/pinning.h"

#include <hwloc.h>

#include <memory>

namespace hogbatch {

void PinThisThread(int index) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner(
      topology, hwloc_topology_destroy);
  if (hwloc_topology_load(topology) != 0) return;

  const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  const auto type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  const int places = hwloc_get_nbobjs_by_type(topology, type);
  if (places <= 0) return;
  const hwloc_obj_t place =
      hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(index % places));
  if (place) hwloc_set_cpubind(topology, place->cpuset, HWLOC_CPUBIND_THREAD);
}

}  // namespace hogbatch
