// cuBLAS's entry points.
#include "tests/gpu/cuda_standin/blas.h"

#include <cublas_v2.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace hogbatch::standin {
namespace {

constexpr std::size_t kWorkspaceAlignment = 256;

cublasStatus_t ToBlas(std::optional<Fault> fault) {
  if (!fault) return CUBLAS_STATUS_SUCCESS;
  switch (*fault) {
    case Fault::kValue:
      return CUBLAS_STATUS_INVALID_VALUE;
    case Fault::kHandle:
    case Fault::kNoDevice:
    case Fault::kOldDriver:
    case Fault::kBadDevice:
      return CUBLAS_STATUS_NOT_INITIALIZED;
    case Fault::kUnsupported:
      return CUBLAS_STATUS_NOT_SUPPORTED;
    case Fault::kNoMemory:
      return CUBLAS_STATUS_ALLOC_FAILED;
    default:
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

bool IsTransposed(cublasOperation_t operation) {
  if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T) {
    throw Misuse{Fault::kValue, "a matrix is neither plain nor transposed"};
  }
  return operation == CUBLAS_OP_T;
}

}  // namespace

cublasStatus_t RunBlas(const char* call, Purpose purpose,
                       const std::function<void(Machine&)>& body) {
  return ToBlas(Run(call, purpose, body));
}

void ColumnMajor::CheckLeading() const {
  if (rows < 0 || cols < 0) throw Misuse{Fault::kValue, std::string(name) + " has a negative side"};
  if (leading < std::max<std::int64_t>(1, rows)) {
    throw Misuse{Fault::kValue, std::string(name) + " has " + std::to_string(rows) +
                                    " rows and leading dimension " + std::to_string(leading)};
  }
}

void ColumnMajor::CheckApart() const {
  if (count == 1 || rows == 0 || cols == 0) return;
  const bool one_after_the_other = apart >= (cols - 1) * leading + rows;
  const bool side_by_side = apart >= rows && (count - 1) * apart + rows <= leading;
  if (one_after_the_other || side_by_side) return;
  throw Misuse{Fault::kValue, "the matrices of a batch overlap in " + std::string(name)};
}

Range ColumnMajor::In(Memory& memory, int device) const {
  if (rows == 0 || cols == 0) return {};
  if (address == nullptr) throw Misuse{Fault::kValue, "there is no " + std::string(name)};
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(float) != 0) {
    throw Misuse{Fault::kAddress, std::string(name) + " is not aligned to floats"};
  }
  const std::size_t floats = (count - 1) * apart + (cols - 1) * leading + rows;
  return memory.At(address, floats * sizeof(float), device, name);
}

float HostNumber(const Machine& machine, const void* number, std::string_view name) {
  if (number == nullptr) throw Misuse{Fault::kValue, "there is no " + std::string(name)};
  if (machine.memory.IsDeviceAddress(number)) {
    throw Misuse{Fault::kValue, std::string(name) + " lies on the device, and is to be the host's"};
  }
  float value = 0;
  std::memcpy(&value, number, sizeof(value));
  return value;
}

void CheckDevice(const Library& library, std::string_view kind) {
  if (library.device == CurrentDevice()) return;
  throw Misuse{Fault::kHandle, "a " + std::string(kind) + " of device " +
                                   std::to_string(library.device) + " is used on device " +
                                   std::to_string(CurrentDevice())};
}

void Scribble(const Range& range) {
  constexpr std::size_t kMost = 4096;
  const std::size_t bytes = std::min(range.bytes, kMost);
  std::memset(range.data(), 0xee, bytes);
  std::memset(range.data() + range.bytes - bytes, 0xee, bytes);
}

}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  return RunBlas("cublasCreate", Purpose::kUse, [&](Machine& machine) {
    Give(handle, static_cast<cublasHandle_t>(machine.blas.Make({.device = CurrentDevice()})));
  });
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  return RunBlas("cublasDestroy", Purpose::kGiveBack,
                 [&](Machine& machine) { machine.blas.Destroy(handle); });
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return RunBlas("cublasSetStream", Purpose::kUse, [&](Machine& machine) {
    Library& library = machine.blas.Get(handle);
    if (machine.timeline.DeviceOf(stream) != library.device) {
      throw Misuse{Fault::kValue, "the handle and the stream belong to different devices"};
    }
    library.stream = stream;
    library.workspace = nullptr;  // as cuBLAS does: back to its own
    if (std::exchange(library.workspace_bytes, 0) != 0) {
      machine.Violate("cublasSetStream: the workspace set before is lost; set it after the stream");
    }
  });
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  return RunBlas("cublasSetWorkspace", Purpose::kUse, [&](Machine& machine) {
    Library& library = machine.blas.Get(handle);
    if (reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
      throw Misuse{Fault::kValue, "a workspace must be aligned to 256 bytes"};
    }
    machine.memory.At(workspace, bytes, library.device, "the workspace");
    library.workspace = workspace;
    library.workspace_bytes = bytes;
  });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return RunBlas("cublasSetMathMode", Purpose::kUse, [&](Machine& machine) {
    machine.blas.Get(handle);
    if (mode != CUBLAS_DEFAULT_MATH && mode != CUBLAS_PEDANTIC_MATH) {
      throw Misuse{Fault::kValue, "this mode rounds floats to fewer digits"};
    }
  });
}

namespace {

// c = alpha · op(a) · op(b) + beta · c; of a batch each.
struct Problem {
  ColumnMajor a, b, c;
  std::int64_t inner;
  const float* alpha;
  const float* beta;
};

void CheckBatch(const Problem& p) {
  if (p.c.count < 0) throw Misuse{Fault::kValue, "a batch has a negative number of products"};
  for (const ColumnMajor* matrix : {&p.a, &p.b, &p.c}) {
    if (matrix->apart >= 0) continue;
    throw Misuse{Fault::kValue, "the matrices of a batch lie a negative way apart in " +
                                    std::string(matrix->name)};
  }
  p.c.CheckApart();
}

// All products of a batch, one after the other.
std::function<void()> RunEach(const Sgemm& first, const Problem& p) {
  return [=] {
    Sgemm product = first;
    for (std::int64_t i = 0; i < p.c.count; ++i) {
      product();
      product.a.data += p.a.apart;
      product.b.data += p.b.apart;
      product.c.data += p.c.apart;
    }
  };
}

void Queue(Machine& machine, const char* call, cublasHandle_t handle, const Problem& p) {
  const Library& library = machine.blas.Get(handle);
  CheckDevice(library, "cuBLAS handle");
  if (library.stream == nullptr) {
    throw Misuse{Fault::kHandle, "the handle has no stream, and would use the default one"};
  }
  for (const ColumnMajor* matrix : {&p.a, &p.b, &p.c}) matrix->CheckLeading();
  CheckBatch(p);
  Sgemm product{.rows = p.c.rows, .cols = p.c.cols, .inner = p.inner};
  product.alpha = HostNumber(machine, p.alpha, "alpha");
  product.beta = HostNumber(machine, p.beta, "beta");
  if (p.c.rows == 0 || p.c.cols == 0 || p.c.count == 0) return;
  if (p.c.address == p.a.address || p.c.address == p.b.address) {
    throw Misuse{Fault::kValue, "C is also read as A or B"};
  }
  const Range in_a = p.a.In(machine.memory, library.device);
  const Range in_b = p.b.In(machine.memory, library.device);
  const Range in_c = p.c.In(machine.memory, library.device);
  product.a = p.a.Over<const float>(in_a);
  product.b = p.b.Over<const float>(in_b);
  product.c = p.c.Over<float>(in_c);
  Work work{.what = call,
            .touches = {{in_a, Touch::How::kReads},
                        {in_b, Touch::How::kReads},
                        {in_c, Touch::How::kWrites}},
            .run = RunEach(product, p),
            .seen = {}};
  if (library.workspace_bytes != 0) {
    const Range workspace = machine.memory.At(library.workspace, library.workspace_bytes,
                                              library.device, "the workspace");
    work.touches.push_back({workspace, Touch::How::kWrites});
    work.run = [workspace, run = std::move(work.run)] {
      Scribble(workspace);
      run();
    };
  }
  machine.timeline.Queue(library.stream, std::move(work));
}

}  // namespace

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transpose_a,
                                         cublasOperation_t transpose_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long a_apart, const float* b, int ldb,
                                         long long b_apart, const float* beta, float* c, int ldc,
                                         long long c_apart, int count) {
  constexpr char kCall[] = "cublasSgemmStridedBatched";
  return RunBlas(kCall, Purpose::kUse, [&](Machine& machine) {
    const bool ta = IsTransposed(transpose_a), tb = IsTransposed(transpose_b);
    Queue(machine, kCall, handle,
          {.a = {"A", a, ta ? k : m, ta ? m : k, lda, ta, count, a_apart},
           .b = {"B", b, tb ? n : k, tb ? k : n, ldb, tb, count, b_apart},
           .c = {"C", c, m, n, ldc, false, count, c_apart},
           .inner = k,
           .alpha = alpha,
           .beta = beta});
  });
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transpose_a,
                           cublasOperation_t transpose_b, int m, int n, int k, const float* alpha,
                           const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc) {
  return RunBlas("cublasSgemm", Purpose::kUse, [&](Machine& machine) {
    const bool ta = IsTransposed(transpose_a), tb = IsTransposed(transpose_b);
    Queue(machine, "cublasSgemm", handle,
          {.a = {"A", a, ta ? k : m, ta ? m : k, lda, ta},
           .b = {"B", b, tb ? n : k, tb ? k : n, ldb, tb},
           .c = {"C", c, m, n, ldc, false},
           .inner = k,
           .alpha = alpha,
           .beta = beta});
  });
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "the operation was successful";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the GPU program failed to execute";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    default:
      return "the stand-in refused the call; its violations say why";
  }
}
