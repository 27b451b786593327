#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>

#include <cmath>
#include <numeric>

#include "tests/cuda_standin/fixture.h"

namespace hogbatch::standin {
namespace {

// Column-major, as the libraries count.
struct Numbers {
  int rows, cols, leading;
  std::vector<float> values;

  Numbers(int r, int c, int ld) : rows(r), cols(c), leading(ld), values(ld * c) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>((i * 37 + 11) % 101) / 50 - 1;
    }
  }
  float At(int r, int c) const { return values[c * leading + r]; }
  float* OnDevice() const {
    float* block = Allocate<float>(values.size());
    float* pinned = AllocatePinned<float>(values.size());
    std::ranges::copy(values, pinned);
    const cudaStream_t stream = MakeStream();
    Upload(block, pinned, values.size(), stream);
    cudaStreamSynchronize(stream);
    return block;
  }
};

void ExpectProduct(const std::vector<float>& actual, const Numbers& a, cublasOperation_t op_a,
                   const Numbers& b, cublasOperation_t op_b, float alpha, float beta,
                   const Numbers& c, int inner) {
  for (int j = 0; j < c.cols; ++j) {
    for (int i = 0; i < c.leading; ++i) {
      double sum = 0;
      for (int p = 0; p < inner; ++p) {
        sum += i >= c.rows ? 0
                           : double{op_a == CUBLAS_OP_N ? a.At(i, p) : a.At(p, i)} *
                                 (op_b == CUBLAS_OP_N ? b.At(p, j) : b.At(j, p));
      }
      const double expected = i < c.rows ? alpha * sum + beta * c.At(i, j) : c.At(i, j);
      ASSERT_NEAR(actual[j * c.leading + i], expected, 1e-4) << "at " << i << ", " << j;
    }
  }
}

class Blas : public Standin {
 protected:
  Blas() { Begin(); }
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

TEST_F(Blas, ProductsAreColumnMajorInEveryForm) {
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

TEST_F(Blas, WithBetaZeroTheResultMayHoldAnything) {
  const Numbers x(4, 5, 4), y(5, 6, 5);
  const float zero = 0;  // c is still NaN
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 6, 5, &one, x.OnDevice(), 4, y.OnDevice(), 5,
              &zero, c, 4);
  cudaStreamSynchronize(stream);
  ExpectProduct(Read(c, 24), x, CUBLAS_OP_N, y, CUBLAS_OP_N, 1, 0, Numbers(4, 6, 4), 5);
}

TEST_F(Blas, LeadingDimensionsAndSizesAreChecked) {
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

TEST_F(Blas, MatricesLieInTheirBlocks) {
  EXPECT_EQ(Multiply({.k = 25, .ldb = 25}), CUBLAS_STATUS_EXECUTION_FAILED);
  ExpectViolation("B reaches 200 bytes past 400 bytes");
  Begin();
  c = a;
  EXPECT_EQ(Multiply({}), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("C is also read as A or B");
}

TEST_F(Blas, AHandleNeedsAStreamOfItsDevice) {
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

TEST_F(Blas, AWorkspaceIsLostWithTheStreamAndStaysAllocated) {
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

TEST_F(Blas, NumbersAreTheHostsAndStayFloats) {
  EXPECT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 6, 5, a, a, 4, b, 5, &one, c, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("alpha lies on the device");
  Begin();
  EXPECT_EQ(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("fewer digits");
}

class BlasLt : public Standin {
 protected:
  BlasLt() { Begin(); }
  void Begin() {
    cudaSetDevice(0);
    stream = MakeStream();
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const std::uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof(epilogue));
    la = MakeLayout(4, 5, 4);
    lb = MakeLayout(5, 6, 5);
    ld = MakeLayout(4, 6, 4);
    cublasLtMatmulPreferenceCreate(&preference);
    a = Numbers(4, 5, 4).OnDevice();
    b = Numbers(5, 6, 5).OnDevice();
    d = Allocate<float>(100);
    bias = Numbers(4, 1, 4).OnDevice();
    SetBias(bias);
  }
  static cublasLtMatrixLayout_t MakeLayout(int rows, int cols, int leading) {
    cublasLtMatrixLayout_t layout = nullptr;
    cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, rows, cols, leading);
    return layout;
  }
  void SetBias(const float* address) {
    cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &address,
                                   sizeof(address));
  }
  cublasStatus_t Choose() {
    int found = 0;
    return cublasLtMatmulAlgoGetHeuristic(handle, matmul, la, lb, ld, ld, preference, 1, &choice,
                                          &found);
  }
  cublasStatus_t Multiply(const cublasLtMatmulAlgo_t* algorithm) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(handle, matmul, &one, a, la, b, lb, &zero, d, ld, d, ld, algorithm,
                          nullptr, 0, stream);
  }

  cublasLtHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cublasLtMatmulDesc_t matmul = nullptr;
  cublasLtMatrixLayout_t la = nullptr, lb = nullptr, ld = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t choice = {};
  float *a = nullptr, *b = nullptr, *d = nullptr, *bias = nullptr;
};

TEST_F(BlasLt, ABiasIsAddedToEachColumn) {
  ASSERT_EQ(Choose(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(Multiply(&choice.algo), CUBLAS_STATUS_SUCCESS);
  cudaStreamSynchronize(stream);
  Numbers added(4, 6, 4);
  for (int i = 0; i < 24; ++i) added.values[i] = Numbers(4, 1, 4).values[i % 4];
  ExpectProduct(Read(d, 24), Numbers(4, 5, 4), CUBLAS_OP_N, Numbers(5, 6, 5), CUBLAS_OP_N, 1, 1,
                added, 5);
  ExpectNoViolation();
}

TEST_F(BlasLt, SomeProductsHaveNoAlgorithm) {
  int without = 0;
  for (int n = 1; n <= 50; ++n) {
    lb = MakeLayout(5, n, 5);
    ld = MakeLayout(4, n, 4);
    without += Choose() == CUBLAS_STATUS_NOT_SUPPORTED ? 1 : 0;
  }
  EXPECT_GT(without, 0);
  EXPECT_LT(without, 25);
  ExpectNoViolation();
}

TEST_F(BlasLt, SidesMustFit) {
  lb = MakeLayout(6, 6, 6);
  EXPECT_EQ(Choose(), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("do not fit");
  Begin();
  la = MakeLayout(4, 5, 3);
  EXPECT_EQ(Multiply(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("A has 4 rows and leading dimension 3");
  Begin();
  const std::int32_t transposed = CUBLAS_OP_T;
  cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                 sizeof(transposed));
  EXPECT_EQ(Multiply(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("do not fit");
}

TEST_F(BlasLt, TheEpilogueNeedsItsBias) {
  SetBias(nullptr);
  EXPECT_EQ(Multiply(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("adds a bias, and there is none");
  Begin();
  SetBias(bias + 1);
  EXPECT_EQ(Multiply(nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  ExpectViolation("the bias reaches 4 bytes past");
}

TEST_F(BlasLt, AnAlgorithmServesWhatItWasChosenFor) {
  cublasLtMatmulAlgo_t nobodys = {};
  EXPECT_EQ(Multiply(&nobodys), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("not the heuristic's");
  Begin();
  Choose();
  lb = MakeLayout(5, 3, 5);
  ld = MakeLayout(4, 3, 4);
  EXPECT_EQ(Multiply(&choice.algo), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("chosen for another product");
  Begin();
  Choose();
  d += 1;  // 256 bytes were taken for granted
  EXPECT_EQ(Multiply(&choice.algo), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("less aligned than the algorithm was told");
  Begin();
  Choose();
  SetBias(Allocate<float>(5) + 1);
  EXPECT_EQ(Multiply(&choice.algo), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("the bias is less aligned");
  Begin();
  const std::uint64_t bytes = 4096;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                       sizeof(bytes));
  Choose();
  EXPECT_EQ(Multiply(&choice.algo), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("needs more workspace");
}

TEST_F(BlasLt, TypesAndSizesOfAttributesMustBeRight) {
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 4),
            CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("takes 8 bytes, not 4");
  Begin();
  cublasLtMatmulDesc_t other = nullptr;
  EXPECT_EQ(cublasLtMatmulDescCreate(&other, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F),
            CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("floats alone");
  cublasLtMatrixLayout_t layout = nullptr;
  EXPECT_EQ(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16F, 1, 1, 1), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("not of floats");
}

class Dnn : public Standin {
 protected:
  Dnn() { Begin(); }
  void Begin() {
    cudaSetDevice(0);
    stream = MakeStream();
    cudnnCreate(&handle);
    cudnnSetStream(handle, stream);
    cudnnCreateTensorDescriptor(&x_shape);
    cudnnCreateTensorDescriptor(&y_shape);
    Describe(x_shape, 3, 4, 5);
    Describe(y_shape, 3, 4, 4);
    x = Numbers(5, 3, 5).OnDevice();
    y = Allocate<float>(12);
  }
  static cudnnStatus_t Describe(cudnnTensorDescriptor_t shape, int rows, int cols, int stride) {
    return cudnnSetTensor4dDescriptorEx(shape, CUDNN_DATA_FLOAT, rows, cols, 1, 1, stride, 1, 1, 1);
  }
  cudnnStatus_t Softmax() {
    const float one = 1, zero = 0;
    return cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
                               x_shape, x, &zero, y_shape, y);
  }

  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cudnnTensorDescriptor_t x_shape = nullptr, y_shape = nullptr;
  float *x = nullptr, *y = nullptr;
};

TEST_F(Dnn, LogSoftmaxGoesRowByRow) {
  ASSERT_EQ(Softmax(), CUDNN_STATUS_SUCCESS);
  cudaStreamSynchronize(stream);
  const std::vector<float> result = Read(y, 12);
  const Numbers given(5, 3, 5);
  for (int r = 0; r < 3; ++r) {
    double sum = 0;
    for (int c = 0; c < 4; ++c) sum += std::exp(double{given.values[r * 5 + c]});
    for (int c = 0; c < 4; ++c) {
      EXPECT_NEAR(result[r * 4 + c], given.values[r * 5 + c] - std::log(sum), 1e-6);
    }
  }
  ExpectNoViolation();
}

TEST_F(Dnn, DescriptorsMustFitAndBeSet) {
  Describe(y_shape, 3, 3, 4);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("different sides");
  Begin();
  cudnnCreateTensorDescriptor(&x_shape);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("never set");
  Begin();
  EXPECT_EQ(Describe(x_shape, 0, 4, 4), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("not positive");
  Begin();
  EXPECT_EQ(Describe(x_shape, 3, 4, 3), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("overlap");
  Begin();
  y = x;
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("described alike");
  Begin();
  Describe(y_shape, 3, 4, 5);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_EXECUTION_FAILED);
  ExpectViolation("y reaches 8 bytes past 48 bytes");
}

TEST_F(Dnn, AHandleNeedsAStreamOfItsDevice) {
  cudnnCreate(&handle);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("has no stream");
  Begin();
  cudaSetDevice(1);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("a cuDNN handle of device 0 is used on device 1");
  Begin();
  cudnnDestroy(handle);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("the cuDNN handle was destroyed before");
}

}  // namespace
}  // namespace hogbatch::standin
