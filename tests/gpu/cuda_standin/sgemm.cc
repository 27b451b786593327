#include "tests/gpu/cuda_standin/sgemm.h"

#include <dnnl.h>

#include <algorithm>

#include "core/error.h"
#include "tests/support/one_dnn.h"

namespace hogbatch::standin {
namespace {

// A matrix whose rows or columns lie one element after the other, as oneDNN takes it.
struct Operand {
  char transposed;
  std::int64_t leading;
};
Operand ToOperand(std::int64_t row_step, std::int64_t col_step, std::int64_t rows,
                  std::int64_t cols) {
  if (col_step == 1) return {'N', std::max(row_step, cols)};
  Check(row_step == 1, "neither the rows nor the columns of a matrix are contiguous");
  return {'T', std::max(col_step, rows)};
}

}  // namespace

void Sgemm::operator()() const {
  HoldOneDnnToOneThread();  // one core is what a device of the stand-in has
  // oneDNN writes rows one after the other: where columns are, the product is taken transposed.
  const bool turned = c.col_step != 1;
  const Operand left = turned ? ToOperand(b.col_step, b.row_step, cols, inner)
                              : ToOperand(a.row_step, a.col_step, rows, inner);
  const Operand right = turned ? ToOperand(a.col_step, a.row_step, inner, rows)
                               : ToOperand(b.row_step, b.col_step, inner, cols);
  const dnnl_status_t status = dnnl_sgemm(
      left.transposed, right.transposed, turned ? cols : rows, turned ? rows : cols, inner, alpha,
      turned ? b.data : a.data, left.leading, turned ? a.data : b.data, right.leading, beta, c.data,
      std::max(turned ? c.col_step : c.row_step, turned ? rows : cols));
  Check(status == dnnl_success, "oneDNN refused a product of the stand-in");
}

}  // namespace hogbatch::standin
