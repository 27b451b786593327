#include <array>
#include <utility>

#include "tests/gpu/cuda_standin/tests/numbers.h"

namespace hogbatch::standin {
namespace {

class StandinBlas : public Standin {
 protected:
  StandinBlas() { Begin(); }
  void Begin() {
    cudaSetDevice(0);
    stream = MakeStream();
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
    a = Allocate<float>(100);
    b = Allocate<float>(100);
    c = Allocate<float>(100);
  }
  // 4 × 6 = 4 × 5 · 5 × 6, but for what a test changes.
  struct Call {
    cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
    int m = 4, n = 6, k = 5, lda = 4, ldb = 5, ldc = 4;
  };
  cublasStatus_t Multiply(const Call& call) {
    return cublasSgemm(handle, call.op_a, call.op_b, call.m, call.n, call.k, &one, a, call.lda, b,
                       call.ldb, &one, c, call.ldc);
  }

  float one = 1;
  cublasHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  float *a = nullptr, *b = nullptr, *c = nullptr;
};

TEST_F(StandinBlas, ProductsAreColumnMajorInEveryForm) {
  for (const auto op_a : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const auto op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      for (const auto& [m, n, k] :
           {std::array{1, 1, 1}, std::array{9, 5, 3}, std::array{33, 70, 600}}) {
        const Numbers x(op_a == CUBLAS_OP_N ? m : k, op_a == CUBLAS_OP_N ? k : m,
                        (op_a == CUBLAS_OP_N ? m : k) + 2);
        const Numbers y(op_b == CUBLAS_OP_N ? k : n, op_b == CUBLAS_OP_N ? n : k,
                        (op_b == CUBLAS_OP_N ? k : n) + 1);
        const Numbers z(m, n, m + 3);
        float* result = z.OnDevice();
        const float alpha = 0.5f, beta = -2;
        ASSERT_EQ(cublasSgemm(handle, op_a, op_b, m, n, k, &alpha, x.OnDevice(), x.leading,
                              y.OnDevice(), y.leading, &beta, result, z.leading),
                  CUBLAS_STATUS_SUCCESS);
        cudaStreamSynchronize(stream);
        ExpectProduct(Read(result, z.values.size()), x, op_a, y, op_b, alpha, beta, z, k);
      }
    }
  }
  ExpectNoViolation();
}

TEST_F(StandinBlas, WithBetaZeroTheResultMayHoldAnything) {
  const Numbers x(4, 5, 4), y(5, 6, 5);
  const float zero = 0;  // c is still NaN
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 6, 5, &one, x.OnDevice(), 4, y.OnDevice(), 5,
              &zero, c, 4);
  cudaStreamSynchronize(stream);
  ExpectProduct(Read(c, 24), x, CUBLAS_OP_N, y, CUBLAS_OP_N, 1, 0, Numbers(4, 6, 4), 5);
}

TEST_F(StandinBlas, LeadingDimensionsAndSizesAreChecked) {
  const Call wrong[] = {{.lda = 3},
                        {.ldb = 4},
                        {.ldc = 3},
                        {.op_a = CUBLAS_OP_T, .lda = 4},
                        {.op_b = CUBLAS_OP_T, .ldb = 5},
                        {.m = -1},
                        {.n = -1},
                        {.k = -1},
                        {.op_a = CUBLAS_OP_C}};
  for (const Call& call : wrong) {
    EXPECT_EQ(Multiply(call), CUBLAS_STATUS_INVALID_VALUE);
    ExpectViolation("cublasSgemm");
    Begin();
  }
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Multiply({.op_a = CUBLAS_OP_T, .op_b = CUBLAS_OP_T, .lda = 5, .ldb = 6}),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(Multiply({.m = 0}), CUBLAS_STATUS_SUCCESS);
  ExpectNoViolation();
}

TEST_F(StandinBlas, MatricesLieInTheirBlocks) {
  EXPECT_EQ(Multiply({.k = 25, .ldb = 25}), CUBLAS_STATUS_EXECUTION_FAILED);
  ExpectViolation("B reaches 200 bytes past 400 bytes");
  Begin();
  c = a;
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("C is also read as A or B");
}

TEST_F(StandinBlas, AHandleNeedsAStreamOfItsDevice) {
  cublasHandle_t fresh = nullptr;
  cublasCreate(&fresh);
  std::swap(fresh, handle);
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_NOT_INITIALIZED);
  ExpectViolation("has no stream");
  Begin();
  cudaSetDevice(1);
  EXPECT_EQ(cublasSetStream(handle, MakeStream()), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("different devices");
  Begin();
  cudaSetDevice(1);
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_NOT_INITIALIZED);
  ExpectViolation("a cuBLAS handle of device 0 is used on device 1");
  Begin();
  cublasDestroy(handle);
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_NOT_INITIALIZED);
  ExpectViolation("the cuBLAS handle was destroyed before");
}

TEST_F(StandinBlas, AWorkspaceIsLostWithTheStreamAndStaysAllocated) {
  float* workspace = Allocate<float>(1000);
  cublasSetWorkspace(handle, workspace, 4000);
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_SUCCESS);
  cublasSetStream(handle, stream);
  ExpectViolation("set it after the stream");
  Begin();
  workspace = Allocate<float>(1000);
  cublasSetWorkspace(handle, workspace, 4000);
  cudaFree(workspace);
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_EXECUTION_FAILED);
  ExpectViolation("lies in freed 4000 bytes");
  Begin();
  EXPECT_EQ(cublasSetWorkspace(handle, a + 1, 4), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("aligned to 256 bytes");
}

// Matrices of A and B one below the other in one matrix, those of C side by side.
TEST_F(StandinBlas, ABatchIsAProductOfEachOfItsMatrices) {
  constexpr int kCount = 3, kM = 4, kN = 5, kK = 6;
  const Numbers x(kCount * kM, kK, kCount * kM + 1), y(kCount * kN, kK, kCount * kN);
  const Numbers z(kM, kCount * kN, kM + 2);
  float* result = z.OnDevice();
  const float alpha = 0.5f, beta = 2;
  ASSERT_EQ(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, kM, kN, kK, &alpha,
                                      x.OnDevice(), x.leading, kM, y.OnDevice(), y.leading, kN,
                                      &beta, result, z.leading, kN * z.leading, kCount),
            CUBLAS_STATUS_SUCCESS);
  cudaStreamSynchronize(stream);
  const std::vector<float> got = Read(result, z.values.size());
  for (int l = 0; l < kCount; ++l) {
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kM; ++i) {
        double sum = 0;
        for (int p = 0; p < kK; ++p) sum += double{x.At(l * kM + i, p)} * y.At(l * kN + j, p);
        ASSERT_NEAR(got[(l * kN + j) * z.leading + i], alpha * sum + beta * z.At(i, l * kN + j),
                    1e-5);
      }
    }
  }
  ExpectNoViolation();
}

TEST_F(StandinBlas, TheMatricesOfABatchLieApartAndInTheirBlocks) {
  const auto multiply = [&](int ldc, long long a_apart, long long c_apart, int count) {
    return cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 3, 4, &one, a, 2, a_apart,
                                     b, 4, 12, &one, c, ldc, c_apart, count);
  };
  for (const long long overlapping : {0, 1, 5}) {
    EXPECT_EQ(multiply(2, 8, overlapping, 2), CUBLAS_STATUS_INVALID_VALUE);
    ExpectViolation("overlap in C");
    Begin();
  }
  EXPECT_EQ(multiply(5, 8, 2, 3), CUBLAS_STATUS_INVALID_VALUE);  // three do not fit side by side
  ExpectViolation("overlap in C");
  Begin();
  EXPECT_EQ(multiply(2, 8, 6, -1), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("negative number of products");
  Begin();
  EXPECT_EQ(multiply(2, -8, 6, 2), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("a negative way apart in A");
  Begin();
  EXPECT_EQ(multiply(2, 50, 6, 3), CUBLAS_STATUS_EXECUTION_FAILED);
  ExpectViolation("A reaches 32 bytes past 400 bytes");
  Begin();
  EXPECT_EQ(multiply(2, 0, 6, 3), CUBLAS_STATUS_SUCCESS);  // all may read the same A
  EXPECT_EQ(multiply(6, 8, 2, 3), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(2, 8, 6, 0), CUBLAS_STATUS_SUCCESS);
  ExpectNoViolation();
}

TEST_F(StandinBlas, NumbersAreTheHostsAndStayFloats) {
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 6, 5, a, a, 4, b, 5, &one, c, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("alpha lies on the device");
  Begin();
  EXPECT_EQ(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("fewer digits");
}

}  // namespace
}  // namespace hogbatch::standin
