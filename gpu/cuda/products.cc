#include "gpu/cuda/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace hogbatch::cuda {
namespace {

using gpu::Product;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kMaxPlans = 1024;  // batches of changing size make many shapes

// What NVIDIA recommends for cublasSetWorkspace.
std::size_t WorkspaceBytes(int major) { return (major >= 9 ? 32 : 4) * kMegabyte; }

DeviceMemory MakeWorkspace(const Calls& calls, std::size_t bytes) {
  void* memory = nullptr;
  calls.Must(cudaMalloc(&memory, bytes), fmt::format("cudaMalloc of {} bytes for cuBLAS", bytes));
  return DeviceMemory(memory);
}

// The stride of a matrix with one row may be 0.
std::int64_t LeadingDimension(const Tensor& t) {
  return std::max<std::int64_t>(1, t.stride == 0 ? t.cols : t.stride);
}

// The largest power of two that divides an address, up to the alignment that cublasLt assumes.
std::uint32_t Alignment(const void* address) {
  constexpr std::uintptr_t kMost = 256;
  return std::uint32_t{1} << std::countr_zero(reinterpret_cast<std::uintptr_t>(address) | kMost);
}

}  // namespace

Products::Products(const Calls& calls, cudaStream_t stream, int major)
    : calls_(calls),
      stream_(stream),
      workspace_bytes_(WorkspaceBytes(major)),
      workspace_(MakeWorkspace(calls, workspace_bytes_)),
      blas_(Make<BlasHandle>(calls, "cublasCreate", cublasCreate)),
      lt_(Make<LtHandle>(calls, "cublasLtCreate", cublasLtCreate)) {
  // The order matters: cublasSetStream resets the workspace.
  calls_.Must(cublasSetStream(blas_.get(), stream_), "cublasSetStream");
  calls_.Must(cublasSetWorkspace(blas_.get(), workspace_.get(), workspace_bytes_),
              "cublasSetWorkspace");
  // The default mode multiplies in float32. TF32, with a mantissa of 10 bits, is off unless
  // requested.
  calls_.Must(cublasSetMathMode(blas_.get(), CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
}

// cuBLAS is column-major, so it sees a row-major matrix as its transpose. Since cᵀ = op(b)ᵀ ·
// op(a)ᵀ, exchanging the factors gives c without moving anything.
void Products::Multiply(const Product& p) {
  const char* const call = p.lanes > 1 ? "cublasSgemmStridedBatched" : "cublasSgemm";
  const auto size = [&](std::int64_t n) { return calls_.AsInt(n, call); };
  const cublasOperation_t op_a = p.form == Product::Form::kTransposeA ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = p.form == Product::Form::kTransposeB ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int rows = size(p.rows), cols = size(p.cols), inner = size(p.inner);
  const int a_leading = size(LeadingDimension(p.a)), b_leading = size(LeadingDimension(p.b)),
            c_leading = size(LeadingDimension(p.c));
  if (p.lanes > 1) {
    calls_.Must(cublasSgemmStridedBatched(blas_.get(), op_b, op_a, cols, rows, inner, &p.alpha,
                                          AddressOf(p.b), b_leading, p.b_apart, AddressOf(p.a),
                                          a_leading, p.a_apart, &p.beta, AddressOf(p.c), c_leading,
                                          p.c_apart, size(p.lanes)),
                call);
  } else {
    calls_.Must(
        cublasSgemm(blas_.get(), op_b, op_a, cols, rows, inner, &p.alpha, AddressOf(p.b), b_leading,
                    AddressOf(p.a), a_leading, &p.beta, AddressOf(p.c), c_leading),
        call);
  }
}

Products::Plan Products::MakePlan(const Shape& shape, const void* bias) const {
  const auto layout = [&](std::int64_t rows, std::int64_t cols, std::int64_t stride) {
    return Make<LtLayout>(calls_, "cublasLtMatrixLayoutCreate", cublasLtMatrixLayoutCreate,
                          CUDA_R_32F, rows, cols, stride);
  };
  // Column-major, as above: w is the first factor, and a column of y gets the bias.
  Plan plan{
      .operation = Make<LtOperation>(calls_, "cublasLtMatmulDescCreate", cublasLtMatmulDescCreate,
                                     CUBLAS_COMPUTE_32F, CUDA_R_32F),
      .w = layout(shape.cols, shape.inner, shape.b_stride),
      .x = layout(shape.inner, shape.rows, shape.a_stride),
      .y = layout(shape.cols, shape.rows, shape.c_stride)};
  const auto set_operation = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    calls_.Must(
        cublasLtMatmulDescSetAttribute(plan.operation.get(), attribute, &value, sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
  };
  set_operation(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  set_operation(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);  // the algorithm depends on its alignment

  const LtPreference preference =
      Make<LtPreference>(calls_, "cublasLtMatmulPreferenceCreate", cublasLtMatmulPreferenceCreate);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    calls_.Must(
        cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes_);
  // A view into a block may be less aligned than cublasLt assumes.
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b_alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a_alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.c_alignment);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.c_alignment);

  cublasLtMatmulHeuristicResult_t best = {};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      lt_.get(), plan.operation.get(), plan.w.get(), plan.x.get(), plan.y.get(), plan.y.get(),
      preference.get(), 1, &best, &found);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) {
    calls_.Must(status, "cublasLtMatmulAlgoGetHeuristic");
    plan.exists = found > 0 && best.state == CUBLAS_STATUS_SUCCESS;
    plan.algorithm = best.algo;
  }
  return plan;
}

bool Products::MultiplyWithBias(const Product& p, const Tensor& bias) {
  if (p.form != Product::Form::kPlain || p.rows == 0 || p.cols == 0 || p.inner == 0) return false;
  const void* const bias_address = AddressOf(bias);
  const Shape shape{.rows = p.rows,
                    .cols = p.cols,
                    .inner = p.inner,
                    .a_stride = LeadingDimension(p.a),
                    .b_stride = LeadingDimension(p.b),
                    .c_stride = LeadingDimension(p.c),
                    .a_alignment = Alignment(AddressOf(p.a)),
                    .b_alignment = Alignment(AddressOf(p.b)),
                    .c_alignment = Alignment(AddressOf(p.c)),
                    .bias_alignment = Alignment(bias_address)};
  auto known = plans_.find(shape);
  if (known == plans_.end()) {
    if (plans_.size() >= kMaxPlans) plans_.clear();
    known = plans_.emplace(shape, MakePlan(shape, bias_address)).first;
  }
  const Plan& plan = known->second;
  if (!plan.exists) return false;
  calls_.Must(
      cublasLtMatmulDescSetAttribute(plan.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                     &bias_address, sizeof(bias_address)),
      "cublasLtMatmulDescSetAttribute");
  calls_.Must(cublasLtMatmul(lt_.get(), plan.operation.get(), &p.alpha, AddressOf(p.b),
                             plan.w.get(), AddressOf(p.a), plan.x.get(), &p.beta, AddressOf(p.c),
                             plan.y.get(), AddressOf(p.c), plan.y.get(), &plan.algorithm,
                             workspace_.get(), workspace_bytes_, stream_),
              "cublasLtMatmul");
  return true;
}

}  // namespace hogbatch::cuda
