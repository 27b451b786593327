#include "gpu/opencl/driver.h"

#include <clblast_c.h>
#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "gpu/opencl/products.h"

namespace hogbatch::opencl {
namespace {

using gpu::ArgumentType;
using gpu::KernelArgument;
using gpu::KernelCall;
using gpu::Product;
using gpu::Stream;

class OpenClDriver final : public gpu::Driver {
 public:
  OpenClDriver(FoundDevice device, const DriverOptions& options);
  ~OpenClDriver() override;

  const DeviceInfo& info() const override { return device_.info; }

  void* Allocate(std::size_t bytes) override;
  void Free(void* block) noexcept override;
  void* AllocatePinned(std::size_t bytes) override;
  void FreePinned(void* memory) noexcept override;

  void Upload(const void* host, void* block, std::size_t offset, std::size_t bytes) override;
  void Download(const void* block, std::size_t offset, void* host, std::size_t bytes) override;

  gpu::Event Record(Stream stream) override;
  void Await(Stream waiter, gpu::Event event) override;
  bool HasCome(gpu::Event event) override;
  void Synchronize(gpu::Event event) override;
  void Release(gpu::Event event) noexcept override { clReleaseEvent(static_cast<cl_event>(event)); }
  void Synchronize() override;

  void Multiply(const Product& product) override;
  void Launch(const KernelCall& call) override;

 private:
  KernelObject MakeKernel(cl_program program, std::string_view name) const;
  void FreeScratch() noexcept;
  cl_command_queue queue(Stream stream) const {
    return queues_[static_cast<std::size_t>(stream)].get();
  }

  FoundDevice device_;
  Complaints complaints_;
  Context context_;
  std::array<Queue, gpu::kStreams> queues_;
  Queue mapping_;  // never has to wait for the work of the others
  std::array<KernelObject, gpu::kKernelNames.size()> kernels_;
  std::unordered_map<void*, Memory> pinned_;  // by the address it is mapped to
  std::size_t allocated_ = 0;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

std::size_t SizeOf(cl_mem memory) noexcept {
  std::size_t size = 0;
  clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, nullptr);
  return size;
}

OpenClDriver::OpenClDriver(FoundDevice device, const DriverOptions& options)
    : device_(std::move(device)), complaints_(device_.complaints()) {
  cl_int code = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &device_.id, nullptr, nullptr, &code));
  complaints_.Check(code, "clCreateContext");
  for (Queue* queue : {&queues_[0], &queues_[1], &queues_[2], &mapping_}) {
    queue->reset(clCreateCommandQueue(context_.get(), device_.id, 0, &code));
    complaints_.Check(code, "clCreateCommandQueue");
  }
  if (device_.info.on_processor) TuneProductsForProcessor(device_.id, complaints_);
  const BuiltProgram built = BuildProgram(device_, context_.get(), options.source, options.cache);
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    kernels_[k] = MakeKernel(built.program.get(), gpu::kKernelNames[k]);
  }
}

KernelObject OpenClDriver::MakeKernel(cl_program program, std::string_view name) const {
  cl_int code = CL_SUCCESS;
  KernelObject kernel(clCreateKernel(program, std::string(name).c_str(), &code));
  complaints_.Check(code, fmt::format("clCreateKernel of {}", name));
  // A kernel that takes many registers may run in smaller groups than the device allows.
  std::size_t group = 0;
  complaints_.Check(clGetKernelWorkGroupInfo(kernel.get(), device_.id, CL_KERNEL_WORK_GROUP_SIZE,
                                             sizeof(group), &group, nullptr),
                    "clGetKernelWorkGroupInfo");
  if (group < gpu::kLanes) {
    complaints_.Throw(fmt::format("it runs {} in groups of at most {} work items; {} are needed",
                                  name, group, gpu::kLanes));
  }
  return kernel;
}

OpenClDriver::~OpenClDriver() {
  for (const Queue& queue : queues_) clFinish(queue.get());
  clFinish(mapping_.get());
  FreeScratch();
  // CLBlast keeps the programs it compiled for a context, and with them the context, for as long as
  // the process lives. It has no narrower call than this; other devices compile theirs once more,
  // which the caches of OpenCL implementations make quick.
  CLBlastClearCache();
}

// Implementations allocate when memory is first used, and some of them more than there is: the sum
// is kept here, so that too much is refused when it is asked for.
void* OpenClDriver::Allocate(std::size_t bytes) {
  const auto limit = static_cast<std::size_t>(device_.info.memory_bytes);
  if (limit > 0 && bytes > limit - allocated_) {  // 0: the device does not tell
    complaints_.ThrowOutOfMemory(
        bytes, fmt::format("{} of its {} MiB are in use", allocated_ >> 20, limit >> 20));
  }
  cl_int code = CL_SUCCESS;
  Memory memory(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  complaints_.CheckMemory(code, "clCreateBuffer", bytes);
  allocated_ += bytes;
  return memory.release();
}

void OpenClDriver::Free(void* block) noexcept {
  const auto memory = static_cast<cl_mem>(block);
  allocated_ -= SizeOf(memory);
  clReleaseMemObject(memory);
}

// The one way to pinned memory in OpenCL: what an implementation allocates for a buffer on the
// host. It stays mapped for its life and is used as host memory only.
void* OpenClDriver::AllocatePinned(std::size_t bytes) {
  cl_int code = CL_SUCCESS;
  Memory memory(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                               nullptr, &code));
  complaints_.CheckMemory(code, "clCreateBuffer on the host", bytes);
  void* const mapped =
      clEnqueueMapBuffer(mapping_.get(), memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                         bytes, 0, nullptr, nullptr, &code);
  complaints_.CheckMemory(code, "clEnqueueMapBuffer", bytes);
  pinned_.emplace(mapped, std::move(memory));
  return mapped;
}

void OpenClDriver::FreePinned(void* memory) noexcept {
  const auto found = pinned_.find(memory);
  clEnqueueUnmapMemObject(mapping_.get(), found->second.get(), memory, 0, nullptr, nullptr);
  pinned_.erase(found);
}

void OpenClDriver::Upload(const void* host, void* block, std::size_t offset, std::size_t bytes) {
  complaints_.CheckMemory(clEnqueueWriteBuffer(queue(Stream::kUpload), static_cast<cl_mem>(block),
                                               CL_FALSE, offset, bytes, host, 0, nullptr, nullptr),
                          "clEnqueueWriteBuffer", bytes);
}

void OpenClDriver::Download(const void* block, std::size_t offset, void* host, std::size_t bytes) {
  const auto memory = static_cast<cl_mem>(const_cast<void*>(block));
  complaints_.CheckMemory(clEnqueueReadBuffer(queue(Stream::kDownload), memory, CL_FALSE, offset,
                                              bytes, host, 0, nullptr, nullptr),
                          "clEnqueueReadBuffer", bytes);
}

gpu::Event OpenClDriver::Record(Stream stream) {
  cl_event event = nullptr;
  complaints_.Check(clEnqueueMarkerWithWaitList(queue(stream), 0, nullptr, &event),
                    "clEnqueueMarkerWithWaitList");
  // Another queue may wait for what this one has not even sent to the device: for ever.
  const cl_int code = clFlush(queue(stream));
  if (code != CL_SUCCESS) clReleaseEvent(event);
  complaints_.Check(code, "clFlush");
  return event;
}

void OpenClDriver::Await(Stream waiter, gpu::Event event) {
  const auto awaited = static_cast<cl_event>(event);
  complaints_.Check(clEnqueueBarrierWithWaitList(queue(waiter), 1, &awaited, nullptr),
                    "clEnqueueBarrierWithWaitList");
}

bool OpenClDriver::HasCome(gpu::Event event) {
  cl_int status = CL_QUEUED;
  complaints_.Check(clGetEventInfo(static_cast<cl_event>(event), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                   sizeof(status), &status, nullptr),
                    "clGetEventInfo");
  if (status < 0) complaints_.Check(status, "a queued command");
  return status == CL_COMPLETE;
}

void OpenClDriver::Synchronize(gpu::Event event) {
  const auto awaited = static_cast<cl_event>(event);
  const cl_int code = clWaitForEvents(1, &awaited);
  // It says only that something failed; what did the event knows.
  if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) HasCome(event);
  complaints_.Check(code, "clWaitForEvents");
}

void OpenClDriver::Synchronize() {
  for (const Queue& queue : queues_) complaints_.Check(clFinish(queue.get()), "clFinish");
}

// CLBlast would allocate its scratch anew for every product, and some implementations wait for the
// device when that is freed. One piece is enough, for products come one after the other.
void OpenClDriver::Multiply(const Product& product) {
  const std::size_t needed = ScratchBytesFor(product, queue(Stream::kCompute), complaints_);
  if (needed > scratch_bytes_) {
    FreeScratch();
    scratch_ = Allocate(needed);
    scratch_bytes_ = needed;
  }
  QueueProduct(product, queue(Stream::kCompute), static_cast<cl_mem>(scratch_), complaints_);
}

void OpenClDriver::FreeScratch() noexcept {
  if (scratch_) Free(scratch_);  // products that are queued keep it until they are done
  scratch_ = nullptr;
  scratch_bytes_ = 0;
}

void OpenClDriver::Launch(const KernelCall& call) {
  const auto index = static_cast<std::size_t>(call.kernel);
  cl_kernel kernel = kernels_[index].get();
  Check(call.arguments.size() == call.types.size(), "a kernel's arguments and types differ");
  for (cl_uint i = 0; i < call.arguments.size(); ++i) {
    const bool is_narrow =
        call.types[i] == ArgumentType::kInt || call.types[i] == ArgumentType::kFloat;
    complaints_.Check(clSetKernelArg(kernel, i, is_narrow ? 4 : 8, &call.arguments[i]),
                      fmt::format("clSetKernelArg {} of {}", i, gpu::kKernelNames[index]));
  }
  const std::size_t lanes = gpu::kLanes;
  const std::size_t items = static_cast<std::size_t>(call.groups) * lanes;
  complaints_.Check(clEnqueueNDRangeKernel(queue(Stream::kCompute), kernel, 1, nullptr, &items,
                                           &lanes, 0, nullptr, nullptr),
                    fmt::format("clEnqueueNDRangeKernel of {}", gpu::kKernelNames[index]));
}

}  // namespace

std::unique_ptr<gpu::Driver> MakeDriver(const DeviceInfo& info, const DriverOptions& options) {
  return std::make_unique<OpenClDriver>(FindUsable(info), options);
}

}  // namespace hogbatch::opencl
