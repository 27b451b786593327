// cudaLaunchKernel. A kernel is known by its address, as the runtime knows it, and called later as
// host loops, group by group, with a copy of the arguments it was launched with.
#include "gpu/kernels/kernels.h"

#include <cuda_runtime_api.h>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gpu/kernel_list.h"
#include "tests/gpu/cuda_standin/runtime.h"

namespace hogbatch::standin {
namespace {

// A kernel with its arguments, as the host's code may call it.
struct Bound {
  std::vector<Touch> touches;
  std::function<void()> call;
};

struct Place {
  Memory& memory;
  int device;
};

// Follows an address into host memory; how far a kernel goes from there is AddressSanitizer's to
// see. Null stands for what is not there.
template <typename T>
T* Follow(T* address, const Place& place, std::vector<Touch>& touches) {
  if (address == nullptr) return nullptr;
  const Range range = place.memory.Rest(address, place.device, "an argument");
  if (reinterpret_cast<std::uintptr_t>(address) % alignof(T) != 0) {
    throw Misuse{Fault::kAddress, "an argument is not aligned to its type"};
  }
  // A kernel is given a block and where in it to begin: it may mean all of it.
  touches.push_back({{range.block, 0, range.block->bytes},
                     std::is_const_v<T> ? Touch::How::kReads : Touch::How::kWrites});
  return range.as<T>();
}

template <typename T>
T Follow(T number, const Place&, std::vector<Touch>&) {
  return number;
}

template <typename... P, std::size_t... I>
Bound Bind(void (*kernel)(P...), void** arguments, const Place& place, std::index_sequence<I...>) {
  Bound bound;
  const std::tuple<P...> values{
      Follow(*static_cast<const P*>(arguments[I]), place, bound.touches)...};
  bound.call = [=] { std::apply(kernel, values); };
  return bound;
}

template <typename... P>
constexpr std::size_t Count(void (*)(P...)) {
  return sizeof...(P);
}

template <auto kernel>
Bound Trampoline(void** arguments, const Place& place) {
  return Bind(kernel, arguments, place, std::make_index_sequence<Count(kernel)>());
}

struct Entry {
  std::string_view name;
  const void* function;
  Bound (*trampoline)(void** arguments, const Place& place);
};

const Entry& Find(const void* function) {
#define HOGBATCH_ENTRY(name) \
  Entry{#name, reinterpret_cast<const void*>(&::name), &Trampoline<&::name>},
  static const std::array kEntries = {HOGBATCH_KERNELS(HOGBATCH_ENTRY)};
#undef HOGBATCH_ENTRY
  for (const Entry& entry : kEntries) {
    if (entry.function == function) return entry;
  }
  throw Misuse{Fault::kFunction, "there is no kernel at this address"};
}

void CheckGrid(dim3 grid, dim3 block, std::size_t shared_bytes) {
  constexpr unsigned kMaxGroups = 0x7fffffff;
  const auto wrong = [](std::string sentence) {
    throw Misuse{Fault::kConfiguration, std::move(sentence)};
  };
  if (block.x != HB_ITEMS || block.y != 1 || block.z != 1) {
    wrong("a group has " + std::to_string(block.x * block.y * block.z) + " items, not " +
          std::to_string(HB_ITEMS));
  }
  if (grid.x == 0 || grid.x > kMaxGroups || grid.y != 1 || grid.z != 1) {
    wrong("no device runs a grid of " + std::to_string(grid.x) + " × " + std::to_string(grid.y) +
          " × " + std::to_string(grid.z) + " groups for a kernel of one dimension");
  }
  if (shared_bytes != 0) wrong("no kernel knows of dynamic shared memory");
}

// Groups run in no order, nor do the items of a phase: groups from a drawn one on, upwards or
// downwards.
void RunGroups(const std::function<void()>& call, long groups, std::uint64_t draw) {
  const long first = static_cast<long>((draw >> 16) % static_cast<std::uint64_t>(groups));
  const bool upwards = (draw & 0x8000) != 0;
  hb_host_order = static_cast<int>(draw % HB_ITEMS);
  hb_host_groups = groups;
  for (long g = 0; g < groups; ++g) {
    hb_host_group = (first + (upwards ? g : groups - g)) % groups;
    call();
  }
}

}  // namespace
}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return RunCuda("cudaLaunchKernel", Purpose::kUse, [&](Machine& machine) {
    const Entry& entry = Find(function);
    const int device = machine.timeline.DeviceOf(stream);
    if (device != CurrentDevice()) {
      throw Misuse{Fault::kHandle, std::string(entry.name) + " is launched on a stream of device " +
                                       std::to_string(device) + ", the thread's device is " +
                                       std::to_string(CurrentDevice())};
    }
    CheckGrid(grid, block, shared_bytes);
    if (arguments == nullptr) throw Misuse{Fault::kValue, "the kernel has no arguments"};
    Bound bound = entry.trampoline(arguments, {machine.memory, device});
    machine.timeline.Queue(
        stream, {.what = std::string(entry.name),
                 .touches = std::move(bound.touches),
                 .run = [call = std::move(bound.call), groups = long{grid.x},
                         draw = machine.timeline.Draw()] { RunGroups(call, groups, draw); },
                 .seen = {}});
  });
}
