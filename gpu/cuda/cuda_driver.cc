#include "gpu/cuda/cuda_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/error.h"
#include "core/indexed_vector.h"
#include "gpu/cuda/calls.h"
#include "gpu/cuda/handles.h"
#include "gpu/cuda/kernel_table.h"
#include "gpu/cuda/products.h"
#include "gpu/cuda/softmax.h"

namespace hogbatch::cuda {
namespace {

using gpu::Event;
using gpu::Stream;

constexpr std::string_view kNamePrefix = "cuda.";
constexpr std::size_t kMaxParameters = 32;  // of a kernel

int OrdinalOf(const DeviceInfo& info) {
  const std::string_view name = info.name;
  int ordinal = -1;
  if (name.starts_with(kNamePrefix)) {
    std::from_chars(name.data() + kNamePrefix.size(), name.data() + name.size(), ordinal);
  }
  Check(ordinal >= 0, "a CUDA device is named cuda.N");
  return ordinal;
}

// A device before anything is made on it: its properties, and errors that name it.
struct Identity {
  explicit Identity(const DeviceInfo& info) : ordinal(OrdinalOf(info)), calls(info.name) {
    calls.Must(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    calls = Calls(fmt::format("{} ({})", info.name, properties.name));
  }
  // Makes it the current device of this thread.
  void Select() const { calls.Must(cudaSetDevice(ordinal), "cudaSetDevice"); }

  int ordinal;
  Calls calls;
  cudaDeviceProp properties = {};
};

// Streams that do not wait for the default stream, which cuDNN and other libraries may use.
using Streams = IndexedArray<Stream, StreamHandle, gpu::kStreams>;
Streams MakeStreams(const Identity& device) {
  device.Select();
  Streams streams;
  for (StreamHandle& stream : streams) {
    stream = Make<StreamHandle>(device.calls, "cudaStreamCreateWithFlags",
                                cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  }
  return streams;
}

class CudaDriver final : public gpu::Driver {
 public:
  explicit CudaDriver(const DeviceInfo& info)
      : info_(info),
        device_(info),
        streams_(MakeStreams(device_)),
        products_(calls(), stream(Stream::kCompute), device_.properties.major) {}
  ~CudaDriver() override { cudaSetDevice(device_.ordinal); }

  const DeviceInfo& info() const override { return info_; }

  void* Allocate(std::size_t bytes) override {
    device_.Select();
    void* block = nullptr;
    calls().Must(cudaMalloc(&block, bytes), fmt::format("cudaMalloc of {} bytes", bytes));
    return block;
  }
  void Free(void* block) noexcept override {
    cudaSetDevice(device_.ordinal);
    cudaFree(block);
  }
  void* AllocatePinned(std::size_t bytes) override {
    device_.Select();
    void* memory = nullptr;
    calls().Must(cudaMallocHost(&memory, bytes), fmt::format("cudaMallocHost of {} bytes", bytes));
    return memory;
  }
  void FreePinned(void* memory) noexcept override {
    cudaSetDevice(device_.ordinal);
    cudaFreeHost(memory);
  }

  void Upload(const void* host, void* block, std::size_t offset, std::size_t bytes) override {
    device_.Select();
    calls().Must(cudaMemcpyAsync(static_cast<std::byte*>(block) + offset, host, bytes,
                                 cudaMemcpyHostToDevice, stream(Stream::kUpload)),
                 "cudaMemcpyAsync");
  }
  void Download(const void* block, std::size_t offset, void* host, std::size_t bytes) override {
    device_.Select();
    calls().Must(cudaMemcpyAsync(host, static_cast<const std::byte*>(block) + offset, bytes,
                                 cudaMemcpyDeviceToHost, stream(Stream::kDownload)),
                 "cudaMemcpyAsync");
  }

  Event Record(Stream on) override {
    device_.Select();
    EventHandle event = Make<EventHandle>(calls(), "cudaEventCreateWithFlags",
                                          cudaEventCreateWithFlags, cudaEventDisableTiming);
    calls().Must(cudaEventRecord(event.get(), stream(on)), "cudaEventRecord");
    return event.release();
  }
  void Await(Stream waiter, Event event) override {
    device_.Select();
    calls().Must(cudaStreamWaitEvent(stream(waiter), static_cast<cudaEvent_t>(event), 0),
                 "cudaStreamWaitEvent");
  }
  bool HasCompleted(Event event) override {
    device_.Select();
    const cudaError_t status = cudaEventQuery(static_cast<cudaEvent_t>(event));
    if (status == cudaErrorNotReady) {
      cudaGetLastError();  // not ready is an answer, but CUDA keeps it as an error
      return false;
    }
    calls().Must(status, "cudaEventQuery");
    return true;
  }
  void Synchronize(Event event) override {
    device_.Select();
    calls().Must(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "cudaEventSynchronize");
  }
  void Release(Event event) noexcept override {
    cudaSetDevice(device_.ordinal);
    cudaEventDestroy(static_cast<cudaEvent_t>(event));
  }
  void Synchronize() override {
    device_.Select();
    for (const StreamHandle& stream : streams_) {
      calls().Must(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    }
  }

  void Multiply(const gpu::Product& product) override {
    device_.Select();
    products_.Multiply(product);
  }
  // cublasLt could apply relu in the same pass, but does not document what happens to NaN. If it
  // becomes 0, as with a GPU's maximum instruction, broken weights look healthy. hb_activate keeps
  // NaN. Adding bias and activation after a plain product takes one pass over y in any case, so
  // cublasLt helps only layers without an activation.
  bool MultiplyWithBias(const gpu::Product& product, const Tensor& bias, Activation f) override {
    if (f != Activation::kIdentity) return false;
    device_.Select();
    return products_.MultiplyWithBias(product, bias);
  }
  bool LogSoftmax(const Tensor& x, const Tensor& y) override {
    device_.Select();
    if (!softmax_) softmax_.emplace(calls(), stream(Stream::kCompute));
    return softmax_->Log(x, y);
  }

  void Launch(const gpu::KernelCall& call) override {
    // Every member of the union has the address of the union.
    std::array<void*, kMaxParameters> arguments;
    Check(call.arguments.size() <= arguments.size(), "a kernel takes too many arguments");
    std::ranges::transform(call.arguments, arguments.begin(), [](const gpu::KernelArgument& a) {
      return const_cast<void*>(static_cast<const void*>(&a));
    });
    device_.Select();
    const auto groups = static_cast<unsigned>(calls().AsInt(call.groups, "cudaLaunchKernel"));
    const cudaError_t status =
        cudaLaunchKernel(StandsFor(call.kernel), dim3(groups), dim3(gpu::kItems), arguments.data(),
                         0, stream(Stream::kCompute));
    if (status == cudaSuccess) return;  // before a string is made
    const std::string_view name = gpu::kKernelNames[call.kernel];
    calls().Must(status, fmt::format("cudaLaunchKernel of {}", name));
  }

 private:
  const Calls& calls() const { return device_.calls; }
  cudaStream_t stream(Stream s) const { return streams_[s].get(); }

  DeviceInfo info_;
  Identity device_;
  Streams streams_;
  Products products_;
  std::optional<Softmax> softmax_;  // made on first use: most networks never need it
};

}  // namespace

std::unique_ptr<gpu::Driver> MakeDriver(const DeviceInfo& info) {
  return std::make_unique<CudaDriver>(info);
}

}  // namespace hogbatch::cuda
