#include <algorithm>
#include <array>
#include <cstdint>

#include "gpu/opencl/products.h"
#include "gpu/opencl/program.h"

namespace hogbatch::opencl {
namespace {

using gpu::Product;

// Rows per work item: enough work for each item, and enough items for all cores.
constexpr std::int64_t kBlockRows = 64;
// As in processor.cl.
constexpr std::int64_t kColumnsAtOnce = 16;
constexpr std::int64_t kRowsOfBAtOnce = 2;

std::size_t Pieces(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }

class ProcessorProducts final : public Products {
 public:
  ProcessorProducts(cl_program program, cl_command_queue queue, const ErrorReporter& reporter)
      : reporter_(reporter),
        queue_(queue),
        product_(MakeKernel(program, "hb_product", reporter)),
        product_of_rows_(MakeKernel(program, "hb_product_of_rows", reporter)) {}

  void Queue(const Product& product) override {
    const bool of_rows = product.form == Product::Form::kTransposeB;
    const bool is_a_transposed = product.form == Product::Form::kTransposeA;
    const Tensor &a = product.a, &b = product.b, &c = product.c;
    const std::int64_t one = 1;
    cl_kernel kernel = of_rows ? product_of_rows_.get() : product_.get();
    SetArguments(kernel, a.data.base, a.data.offset, is_a_transposed ? one : a.stride,
                 is_a_transposed ? a.stride : one, b.data.base, b.data.offset, b.stride,
                 product.alpha, product.beta, c.data.base, c.data.offset, c.stride, product.rows,
                 product.cols, product.inner, kBlockRows, product.a_apart, product.b_apart,
                 product.c_apart);
    const std::array<std::size_t, 3> items = {
        Pieces(product.cols, of_rows ? kRowsOfBAtOnce : kColumnsAtOnce),
        Pieces(product.rows, kBlockRows), static_cast<std::size_t>(product.lanes)};
    constexpr std::array<std::size_t, 3> kGroup = {1, 1, 1};
    reporter_.Check(clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, items.data(), kGroup.data(),
                                           0, nullptr, nullptr),
                    "clEnqueueNDRangeKernel of a product");
  }

 private:
  template <typename... Values>
  void SetArguments(cl_kernel kernel, const Values&... values) const {
    cl_uint i = 0;
    (reporter_.Check(clSetKernelArg(kernel, i++, sizeof(values), &values),
                     "clSetKernelArg of a product"),
     ...);
  }

  ErrorReporter reporter_;
  cl_command_queue queue_;
  KernelObject product_;
  KernelObject product_of_rows_;
};

}  // namespace

std::unique_ptr<Products> MakeProcessorProducts(cl_program program, cl_command_queue queue,
                                                const ErrorReporter& reporter) {
  return std::make_unique<ProcessorProducts>(program, queue, reporter);
}

}  // namespace hogbatch::opencl
