#include "runtime/pinning.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <type_traits>

namespace hogbatch {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

// Only what this process may use; null where hwloc does not know the machine.
Topology LoadTopology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) return {nullptr, hwloc_topology_destroy};
  const std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, decltype(&hwloc_bitmap_free)> bound(
      hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (bound && hwloc_get_cpubind(raw, bound.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_topology_restrict(raw, bound.get(), 0);
  }
  return topology;
}

}  // namespace

int UsableCores() {
  const Topology topology = LoadTopology();
  const int cores = topology ? hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) : 0;
  return cores > 0 ? cores : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void PinThisThread(int index) {
  const Topology topology = LoadTopology();
  const int cores = topology ? hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) : 0;
  if (cores <= 0) return;
  const hwloc_obj_t core =
      hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(index % cores));
  if (core) hwloc_set_cpubind(topology.get(), core->cpuset, HWLOC_CPUBIND_THREAD);
}

}  // namespace hogbatch
