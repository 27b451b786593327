#include "gpu/opencl/products.h"

#include <clblast_c.h>
#include <fmt/format.h>

#include <array>
#include <climits>
#include <string>

namespace hogbatch::opencl {
namespace {

using gpu::Product;

cl_mem MemoryOf(const Tensor& tensor) { return static_cast<cl_mem>(tensor.data.base); }
std::size_t OffsetOf(const Tensor& tensor) { return static_cast<std::size_t>(tensor.data.offset); }

CLBlastTranspose TurnOfA(const Product& product) {
  return product.form == Product::Form::kTransposeA ? CLBlastTransposeYes : CLBlastTransposeNo;
}
CLBlastTranspose TurnOfB(const Product& product) {
  return product.form == Product::Form::kTransposeB ? CLBlastTransposeYes : CLBlastTransposeNo;
}

// CLBlast's kernels count elements in int.
void CheckReach(const Tensor& tensor, std::int64_t rows, std::int64_t cols,
                const Complaints& complaints) {
  if (tensor.data.offset + (rows - 1) * tensor.stride + cols <= INT_MAX) return;
  complaints.Throw(fmt::format(
      "a matrix of {} × {} ends behind the first 8 GiB of its memory, where CLBlast cannot reach; "
      "use a smaller network or batch",
      rows, cols));
}

void CheckReach(const Product& product, const Complaints& complaints) {
  const std::int64_t rows = product.rows, cols = product.cols, inner = product.inner;
  const bool a_turned = TurnOfA(product) == CLBlastTransposeYes;
  const bool b_turned = TurnOfB(product) == CLBlastTransposeYes;
  CheckReach(product.a, a_turned ? inner : rows, a_turned ? rows : inner, complaints);
  CheckReach(product.b, b_turned ? cols : inner, b_turned ? inner : cols, complaints);
  CheckReach(product.c, rows, cols, complaints);
}

void CheckCode(CLBlastStatusCode code, const Product& product, const Complaints& complaints) {
  if (code == CLBlastSuccess) return;
  complaints.Check(
      code, fmt::format("CLBlastSgemm of {} × {} × {}", product.rows, product.inner, product.cols));
}

}  // namespace

// A processor walks through the items of a group one by one and copies what they keep at every
// barrier. With one item a group there is nothing to copy, and vectors of four are its own.
void TuneProductsForProcessor(cl_device_id device, const Complaints& complaints) {
  std::array<const char*, 10> names = {"WGD",  "MDIMCD", "NDIMCD", "MDIMAD", "NDIMBD",
                                       "KWID", "VWMD",   "VWND",   "PADA",   "PADB"};
  constexpr std::array<std::size_t, names.size()> kValues = {4, 1, 1, 1, 1, 4, 4, 4, 0, 0};
  complaints.Check(CLBlastOverrideParameters(device, "XgemmDirect", CLBlastPrecisionSingle,
                                             names.size(), names.data(), kValues.data()),
                   "CLBlastOverrideParameters");
}

std::size_t ScratchBytesFor(const Product& product, cl_command_queue queue,
                            const Complaints& complaints) {
  CheckReach(product, complaints);
  std::size_t bytes = 0;
  const CLBlastStatusCode code = CLBlastSGemmTempBufferSize(
      CLBlastLayoutRowMajor, TurnOfA(product), TurnOfB(product), product.rows, product.cols,
      product.inner, OffsetOf(product.a), product.a.stride, OffsetOf(product.b), product.b.stride,
      OffsetOf(product.c), product.c.stride, &queue, &bytes);
  CheckCode(code, product, complaints);
  return bytes;
}

// With beta 0 CLBlast's kernels do not read c, so that NaN in it is forgotten.
void QueueProduct(const Product& product, cl_command_queue queue, cl_mem scratch,
                  const Complaints& complaints) {
  const CLBlastStatusCode code = CLBlastSgemmWithTempBuffer(
      CLBlastLayoutRowMajor, TurnOfA(product), TurnOfB(product), product.rows, product.cols,
      product.inner, product.alpha, MemoryOf(product.a), OffsetOf(product.a), product.a.stride,
      MemoryOf(product.b), OffsetOf(product.b), product.b.stride, product.beta, MemoryOf(product.c),
      OffsetOf(product.c), product.c.stride, &queue, nullptr, scratch);
  CheckCode(code, product, complaints);
}

}  // namespace hogbatch::opencl
