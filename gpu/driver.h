// The contract that CUDA and OpenCL implement: memory, copies, events, products and kernels.
// Everything else about a GPU (order between streams, staging, layer-level calls) is in
// gpu_device.cc, once for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "device/device.h"
#include "gpu/kernel_list.h"

namespace hogbatch::gpu {

// Work on one stream runs in order. Only events order work on different streams.
enum class Stream : std::uint8_t { kCompute, kUpload, kDownload };
inline constexpr int kStreams = 3;

// An event of the driver: a cudaEvent_t, a cl_event.
using Event = void*;

// c = alpha · op(a) · op(b) + beta · c, all row-major: c is rows × cols, the sum runs over `inner`.
// A transposed operand is stored as its transpose. With beta 0, c is not read.
struct Product {
  enum class Form : std::uint8_t { kPlain, kTransposeA, kTransposeB };
  Form form = Form::kPlain;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t inner = 0;
  float alpha = 1;
  Tensor a;
  Tensor b;
  float beta = 0;
  Tensor c;
  // One such product for each lane. The operands of a lane begin this many floats behind those of
  // the last one; no element of c belongs to two lanes.
  std::int64_t lanes = 1;
  std::int64_t a_apart = 0;
  std::int64_t b_apart = 0;
  std::int64_t c_apart = 0;
};

// One argument of a kernel: an address or a number. The kernel's parameter list decides which
// member is used.
union KernelArgument {
  void* address;
  std::int64_t integer;  // long
  std::int32_t word;     // int
  float number;
};
enum class ArgumentType : std::uint8_t { kAddress, kLong, kInt, kFloat };

struct KernelCall {
  Kernel kernel;
  std::int64_t groups = 1;  // of kItems work items each
  std::span<const KernelArgument> arguments;
  std::span<const ArgumentType> types;
};

// Every call may throw DeviceError with the device, the call and the reason, or OutOfDeviceMemory.
// Only Synchronize blocks, and calls that say so. A driver belongs to one thread. Before it is
// destroyed, everything it gave out must be given back and no work may be queued.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual const DeviceInfo& info() const = 0;

  // Device memory, aligned to 64 bytes or better. Free may block until the device is idle.
  virtual void* Allocate(std::size_t bytes) = 0;
  virtual void Free(void* block) noexcept = 0;
  // Pinned host memory, which the device accesses by itself. May block.
  virtual void* AllocatePinned(std::size_t bytes) = 0;
  virtual void FreePinned(void* memory) noexcept = 0;

  // On Stream::kUpload and Stream::kDownload. `host` is pinned memory.
  virtual void Upload(const void* host, void* block, std::size_t offset, std::size_t bytes) = 0;
  virtual void Download(const void* block, std::size_t offset, void* host, std::size_t bytes) = 0;

  // Returns an event that completes when all work queued on the stream so far is done.
  virtual Event Record(Stream stream) = 0;
  // Work queued on `waiter` after this call starts after the event.
  virtual void Await(Stream waiter, Event event) = 0;
  virtual bool HasCompleted(Event event) = 0;
  // Blocks until the event has completed. Later work may go on.
  virtual void Synchronize(Event event) = 0;
  virtual void Release(Event event) noexcept = 0;
  // Blocks until all streams are idle.
  virtual void Synchronize() = 0;

  // On Stream::kCompute.
  virtual void Multiply(const Product& product) = 0;
  virtual void Launch(const KernelCall& call) = 0;

  // Operations that some libraries have as one call. False: this library has none, and nothing is
  // queued. y = f(x · w + bias), of one lane.
  virtual bool MultiplyWithBias(const Product& /*product*/, const Tensor& /*bias*/,
                                Activation /*f*/) {
    return false;
  }
  // y = log softmax(x), row by row.
  virtual bool LogSoftmax(const Tensor& /*x*/, const Tensor& /*y*/) { return false; }
};

}  // namespace hogbatch::gpu
