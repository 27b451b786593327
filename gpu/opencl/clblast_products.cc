#include <clblast_c.h>
#include <fmt/format.h>

#include <climits>

#include "gpu/opencl/products.h"

namespace hogbatch::opencl {
namespace {

using gpu::Product;

cl_mem MemoryOf(const Tensor& tensor) { return static_cast<cl_mem>(tensor.data.base); }
std::size_t OffsetOf(const Tensor& tensor) { return tensor.data.offset; }

CLBlastTranspose TransposeOfA(const Product& product) {
  return product.form == Product::Form::kTransposeA ? CLBlastTransposeYes : CLBlastTransposeNo;
}
CLBlastTranspose TransposeOfB(const Product& product) {
  return product.form == Product::Form::kTransposeB ? CLBlastTransposeYes : CLBlastTransposeNo;
}

// CLBlast's kernels count elements in int. `last`: where the last lane begins.
void CheckReach(const Tensor& tensor, std::int64_t rows, std::int64_t cols, std::int64_t last,
                const ErrorReporter& reporter) {
  if (tensor.data.offset + last + (rows - 1) * tensor.stride + cols <= INT_MAX) return;
  reporter.Throw(fmt::format(
      "a matrix of {} × {} ends behind the first 8 GiB of its memory, where CLBlast cannot reach; "
      "use a smaller network or batch",
      rows, cols));
}

void CheckReach(const Product& product, const ErrorReporter& reporter) {
  const std::int64_t rows = product.rows, cols = product.cols, inner = product.inner;
  const bool is_a_transposed = TransposeOfA(product) == CLBlastTransposeYes;
  const bool is_b_transposed = TransposeOfB(product) == CLBlastTransposeYes;
  const std::int64_t last = product.lanes - 1;
  CheckReach(product.a, is_a_transposed ? inner : rows, is_a_transposed ? rows : inner,
             last * product.a_apart, reporter);
  CheckReach(product.b, is_b_transposed ? cols : inner, is_b_transposed ? inner : cols,
             last * product.b_apart, reporter);
  CheckReach(product.c, rows, cols, last * product.c_apart, reporter);
}

class ClBlastProducts final : public Products {
 public:
  ClBlastProducts(gpu::Driver& memory, cl_command_queue queue, const ErrorReporter& reporter)
      : memory_(memory), queue_(queue), reporter_(reporter) {}
  // CLBlast keeps its compiled programs, and with them the context, until the process ends. This is
  // its only call to free them, and it frees those of all devices. Other devices compile theirs
  // again, which is fast thanks to the caches of OpenCL implementations.
  ~ClBlastProducts() override {
    FreeScratch();
    CLBlastClearCache();
  }

  // With beta 0 CLBlast does not read c, so NaN in it has no effect.
  void Queue(const Product& product) override {
    CheckReach(product, reporter_);
    // Its call for lanes would allocate scratch each time. Lanes that need some are large, and gain
    // nothing from one call.
    const bool needs_scratch = ProvideScratch(product);
    if (product.lanes > 1 && !needs_scratch) return QueueLanes(product);
    Product one = product;
    for (std::int64_t i = 0; i < product.lanes; ++i) {
      QueueOne(one);
      one.a.data.offset += product.a_apart;
      one.b.data.offset += product.b_apart;
      one.c.data.offset += product.c_apart;
    }
  }

 private:
  void QueueOne(const Product& product) {
    const CLBlastStatusCode code = CLBlastSgemmWithTempBuffer(
        CLBlastLayoutRowMajor, TransposeOfA(product), TransposeOfB(product), product.rows,
        product.cols, product.inner, product.alpha, MemoryOf(product.a), OffsetOf(product.a),
        product.a.stride, MemoryOf(product.b), OffsetOf(product.b), product.b.stride, product.beta,
        MemoryOf(product.c), OffsetOf(product.c), product.c.stride, &queue_, nullptr,
        static_cast<cl_mem>(scratch_));
    CheckCode(code, product);
  }

  void QueueLanes(const Product& product) {
    const CLBlastStatusCode code = CLBlastSgemmStridedBatched(
        CLBlastLayoutRowMajor, TransposeOfA(product), TransposeOfB(product), product.rows,
        product.cols, product.inner, product.alpha, MemoryOf(product.a), OffsetOf(product.a),
        product.a.stride, product.a_apart, MemoryOf(product.b), OffsetOf(product.b),
        product.b.stride, product.b_apart, product.beta, MemoryOf(product.c), OffsetOf(product.c),
        product.c.stride, product.c_apart, product.lanes, &queue_, nullptr);
    CheckCode(code, product);
  }

  // CLBlast would allocate scratch for every product, and some implementations wait for the device
  // when it is freed. One block is enough, because products run one after the other. False: this
  // product needs none.
  bool ProvideScratch(const Product& product) {
    std::size_t bytes = 0;
    const CLBlastStatusCode code = CLBlastSGemmTempBufferSize(
        CLBlastLayoutRowMajor, TransposeOfA(product), TransposeOfB(product), product.rows,
        product.cols, product.inner, OffsetOf(product.a), product.a.stride, OffsetOf(product.b),
        product.b.stride, OffsetOf(product.c), product.c.stride, &queue_, &bytes);
    CheckCode(code, product);
    if (bytes <= scratch_bytes_) return bytes > 0;
    FreeScratch();
    scratch_ = memory_.Allocate(bytes);
    scratch_bytes_ = bytes;
    return true;
  }

  void FreeScratch() noexcept {
    if (scratch_) memory_.Free(scratch_);  // OpenCL keeps it until queued products are done
    scratch_ = nullptr;
    scratch_bytes_ = 0;
  }

  void CheckCode(CLBlastStatusCode code, const Product& product) const {
    if (code == CLBlastSuccess) return;
    reporter_.Check(code, fmt::format("CLBlastSgemm of {} × {} × {}", product.rows, product.inner,
                                      product.cols));
  }

  gpu::Driver& memory_;
  cl_command_queue queue_;
  ErrorReporter reporter_;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Products> MakeClBlastProducts(gpu::Driver& memory, cl_command_queue queue,
                                              const ErrorReporter& reporter) {
  return std::make_unique<ClBlastProducts>(memory, queue, reporter);
}

}  // namespace hogbatch::opencl
