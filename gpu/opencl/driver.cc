#include "gpu/opencl/driver.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/indexed_vector.h"
#include "gpu/opencl/products.h"

namespace hogbatch::opencl {
namespace {

using gpu::ArgumentType;
using gpu::KernelArgument;
using gpu::KernelCall;
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
  bool HasCompleted(gpu::Event event) override;
  void Synchronize(gpu::Event event) override;
  void Release(gpu::Event event) noexcept override { clReleaseEvent(static_cast<cl_event>(event)); }
  void Synchronize() override;

  void Multiply(const gpu::Product& product) override { products_->Queue(product); }
  void Launch(const KernelCall& call) override;

 private:
  // A kernel and its number of work items per group.
  struct Grouped {
    KernelObject kernel;
    std::size_t items = gpu::kItems;
  };
  Grouped MakeGrouped(cl_program program, std::string_view name) const;
  cl_command_queue queue(Stream stream) const { return queues_[stream].get(); }

  FoundDevice device_;
  ErrorReporter reporter_;
  Context context_;
  IndexedArray<Stream, Queue, gpu::kStreams> queues_;
  Queue mapping_;  // never waits for work of the other queues
  IndexedArray<gpu::Kernel, Grouped, gpu::kKernels> kernels_;
  std::unordered_map<void*, Memory> pinned_;  // by the address it is mapped to
  std::size_t allocated_ = 0;
  std::unique_ptr<Products> products_;
};

std::size_t SizeOf(cl_mem memory) noexcept {
  std::size_t size = 0;
  clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, nullptr);
  return size;
}

// The kernels that processor.cl replaces.
bool IsForProcessors(gpu::Kernel kernel) {
  using enum gpu::Kernel;
  return kernel == hb_csr_forward || kernel == hb_csr_scatter || kernel == hb_add_scaled ||
         kernel == hb_fill;
}

OpenClDriver::OpenClDriver(FoundDevice device, const DriverOptions& options)
    : device_(std::move(device)), reporter_(device_.reporter()) {
  cl_int code = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &device_.id, nullptr, nullptr, &code));
  reporter_.Check(code, "clCreateContext");
  for (Queue* queue : {&queues_[0], &queues_[1], &queues_[2], &mapping_}) {
    queue->reset(clCreateCommandQueue(context_.get(), device_.id, 0, &code));
    reporter_.Check(code, "clCreateCommandQueue");
  }
  const bool as_processor = device_.info.on_processor && !options.as_gpu;
  std::string source(options.source);
  if (as_processor) source += ProcessorSource();
  const BuiltProgram built = BuildProgram(device_, context_.get(), source, options.cache);
  cl_program program = built.program.get();
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const auto kernel = static_cast<gpu::Kernel>(k);
    kernels_[k] =
        as_processor && IsForProcessors(kernel)
            ? Grouped{MakeKernel(program, fmt::format("{}_on_processor", gpu::kKernelNames[k]),
                                 reporter_),
                      1}
            : MakeGrouped(program, gpu::kKernelNames[k]);
  }
  cl_command_queue compute = queue(Stream::kCompute);
  products_ = as_processor ? MakeProcessorProducts(program, compute, reporter_)
                           : MakeClBlastProducts(*this, compute, reporter_);
}

OpenClDriver::Grouped OpenClDriver::MakeGrouped(cl_program program, std::string_view name) const {
  Grouped grouped{MakeKernel(program, std::string(name), reporter_)};
  // A kernel that uses many registers may need smaller groups than the device allows.
  std::size_t most = 0;
  reporter_.Check(clGetKernelWorkGroupInfo(grouped.kernel.get(), device_.id,
                                           CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, nullptr),
                  "clGetKernelWorkGroupInfo");
  if (most < grouped.items) {
    reporter_.Throw(fmt::format("it runs {} in groups of at most {} work items; {} are needed",
                                name, most, grouped.items));
  }
  return grouped;
}

OpenClDriver::~OpenClDriver() {
  for (const Queue& queue : queues_) clFinish(queue.get());
  clFinish(mapping_.get());
  products_.reset();  // frees its memory through this driver
}

// Implementations allocate memory at its first use, and some promise more than there is. So the sum
// is counted here, and too large a request is refused at once.
void* OpenClDriver::Allocate(std::size_t bytes) {
  const std::size_t limit = device_.info.memory_bytes;
  if (limit > 0 && bytes > limit - allocated_) {  // 0: unknown
    reporter_.ThrowOutOfMemory(
        bytes, fmt::format("{} of its {} MiB are in use", allocated_ >> 20, limit >> 20));
  }
  cl_int code = CL_SUCCESS;
  Memory memory(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  reporter_.CheckMemory(code, "clCreateBuffer", bytes);
  allocated_ += bytes;
  return memory.release();
}

void OpenClDriver::Free(void* block) noexcept {
  const auto memory = static_cast<cl_mem>(block);
  allocated_ -= SizeOf(memory);
  clReleaseMemObject(memory);
}

// OpenCL has no call for pinned memory. The host side of a mapped buffer serves instead: it stays
// mapped and is used as host memory only.
void* OpenClDriver::AllocatePinned(std::size_t bytes) {
  cl_int code = CL_SUCCESS;
  Memory memory(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                               nullptr, &code));
  reporter_.CheckMemory(code, "clCreateBuffer on the host", bytes);
  void* const mapped =
      clEnqueueMapBuffer(mapping_.get(), memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                         bytes, 0, nullptr, nullptr, &code);
  reporter_.CheckMemory(code, "clEnqueueMapBuffer", bytes);
  pinned_.emplace(mapped, std::move(memory));
  return mapped;
}

void OpenClDriver::FreePinned(void* memory) noexcept {
  const auto found = pinned_.find(memory);
  clEnqueueUnmapMemObject(mapping_.get(), found->second.get(), memory, 0, nullptr, nullptr);
  pinned_.erase(found);
}

void OpenClDriver::Upload(const void* host, void* block, std::size_t offset, std::size_t bytes) {
  reporter_.CheckMemory(clEnqueueWriteBuffer(queue(Stream::kUpload), static_cast<cl_mem>(block),
                                             CL_FALSE, offset, bytes, host, 0, nullptr, nullptr),
                        "clEnqueueWriteBuffer", bytes);
}

void OpenClDriver::Download(const void* block, std::size_t offset, void* host, std::size_t bytes) {
  const auto memory = static_cast<cl_mem>(const_cast<void*>(block));
  reporter_.CheckMemory(clEnqueueReadBuffer(queue(Stream::kDownload), memory, CL_FALSE, offset,
                                            bytes, host, 0, nullptr, nullptr),
                        "clEnqueueReadBuffer", bytes);
}

gpu::Event OpenClDriver::Record(Stream stream) {
  cl_event event = nullptr;
  reporter_.Check(clEnqueueMarkerWithWaitList(queue(stream), 0, nullptr, &event),
                  "clEnqueueMarkerWithWaitList");
  // Sends the queue to the device. Otherwise another queue might wait for it for ever.
  const cl_int code = clFlush(queue(stream));
  if (code != CL_SUCCESS) clReleaseEvent(event);
  reporter_.Check(code, "clFlush");
  return event;
}

void OpenClDriver::Await(Stream waiter, gpu::Event event) {
  const auto awaited = static_cast<cl_event>(event);
  reporter_.Check(clEnqueueBarrierWithWaitList(queue(waiter), 1, &awaited, nullptr),
                  "clEnqueueBarrierWithWaitList");
}

bool OpenClDriver::HasCompleted(gpu::Event event) {
  cl_int status = CL_QUEUED;
  reporter_.Check(clGetEventInfo(static_cast<cl_event>(event), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                 sizeof(status), &status, nullptr),
                  "clGetEventInfo");
  if (status < 0) reporter_.Check(status, "a queued command");
  return status == CL_COMPLETE;
}

void OpenClDriver::Synchronize(gpu::Event event) {
  const auto awaited = static_cast<cl_event>(event);
  const cl_int code = clWaitForEvents(1, &awaited);
  // This code only says that something failed; the event knows the reason.
  if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) HasCompleted(event);
  reporter_.Check(code, "clWaitForEvents");
}

void OpenClDriver::Synchronize() {
  for (const Queue& queue : queues_) reporter_.Check(clFinish(queue.get()), "clFinish");
}

void OpenClDriver::Launch(const KernelCall& call) {
  cl_kernel kernel = kernels_[call.kernel].kernel.get();
  Check(call.arguments.size() == call.types.size(), "a kernel's arguments and types differ");
  for (cl_uint i = 0; i < call.arguments.size(); ++i) {
    const bool is_narrow =
        call.types[i] == ArgumentType::kInt || call.types[i] == ArgumentType::kFloat;
    const cl_int status = clSetKernelArg(kernel, i, is_narrow ? 4 : 8, &call.arguments[i]);
    if (status == CL_SUCCESS) continue;
    reporter_.Check(status,
                    fmt::format("clSetKernelArg {} of {}", i, gpu::kKernelNames[call.kernel]));
  }
  const std::size_t in_group = kernels_[call.kernel].items;
  const std::size_t items = call.groups * in_group;
  const cl_int status = clEnqueueNDRangeKernel(queue(Stream::kCompute), kernel, 1, nullptr, &items,
                                               &in_group, 0, nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  reporter_.Check(status,
                  fmt::format("clEnqueueNDRangeKernel of {}", gpu::kKernelNames[call.kernel]));
}

}  // namespace

std::unique_ptr<gpu::Driver> MakeDriver(const DeviceInfo& info, const DriverOptions& options) {
  return std::make_unique<OpenClDriver>(FindUsable(info), options);
}

}  // namespace hogbatch::opencl
