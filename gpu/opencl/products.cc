#include "gpu/opencl/products.h"

#include <clblast_c.h>
#include <fmt/format.h>

#include <climits>

namespace hogbatch::opencl {
namespace {

cl_mem MemoryOf(const Tensor& tensor) { return static_cast<cl_mem>(tensor.data.base); }

// CLBlast's kernels count elements in int.
void CheckReach(const Tensor& tensor, std::int64_t rows, std::int64_t cols,
                const Complaints& complaints) {
  if (tensor.data.offset + (rows - 1) * tensor.stride + cols <= INT_MAX) return;
  complaints.Throw(fmt::format(
      "a matrix of {} × {} ends behind the first 8 GiB of its memory, where CLBlast cannot reach; "
      "use a smaller network or batch",
      rows, cols));
}

}  // namespace

void QueueProduct(const gpu::Product& product, cl_command_queue queue,
                  const Complaints& complaints) {
  const bool a_turned = product.form == gpu::Product::Form::kTransposeA;
  const bool b_turned = product.form == gpu::Product::Form::kTransposeB;
  const std::int64_t rows = product.rows, cols = product.cols, inner = product.inner;
  CheckReach(product.a, a_turned ? inner : rows, a_turned ? rows : inner, complaints);
  CheckReach(product.b, b_turned ? cols : inner, b_turned ? inner : cols, complaints);
  CheckReach(product.c, rows, cols, complaints);

  const auto transpose = [](bool turned) {
    return turned ? CLBlastTransposeYes : CLBlastTransposeNo;
  };
  const auto at = [](const Tensor& tensor) { return static_cast<std::size_t>(tensor.data.offset); };
  // With beta 0 CLBlast's kernels do not read c, so that NaN in it is forgotten.
  const CLBlastStatusCode code =
      CLBlastSgemm(CLBlastLayoutRowMajor, transpose(a_turned), transpose(b_turned), rows, cols,
                   inner, product.alpha, MemoryOf(product.a), at(product.a), product.a.stride,
                   MemoryOf(product.b), at(product.b), product.b.stride, product.beta,
                   MemoryOf(product.c), at(product.c), product.c.stride, &queue, nullptr);
  if (code == CLBlastSuccess) return;
  complaints.Check(code, fmt::format("CLBlastSgemm of {} × {} × {}", rows, inner, cols));
}

}  // namespace hogbatch::opencl
