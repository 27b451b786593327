#include <cublasLt.h>

#include "tests/gpu/cuda_standin/tests/numbers.h"

namespace hogbatch::standin {
namespace {

class StandinBlasLt : public Standin {
 protected:
  StandinBlasLt() { Begin(); }
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

TEST_F(StandinBlasLt, ABiasIsAddedToEachColumn) {
  ASSERT_EQ(Choose(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(Multiply(&choice.algo), CUBLAS_STATUS_SUCCESS);
  cudaStreamSynchronize(stream);
  Numbers added(4, 6, 4);
  for (int i = 0; i < 24; ++i) added.values[i] = Numbers(4, 1, 4).values[i % 4];
  ExpectProduct(Read(d, 24), Numbers(4, 5, 4), CUBLAS_OP_N, Numbers(5, 6, 5), CUBLAS_OP_N, 1, 1,
                added, 5);
  ExpectNoViolation();
}

TEST_F(StandinBlasLt, SomeProductsHaveNoAlgorithm) {
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

TEST_F(StandinBlasLt, SidesMustFit) {
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

TEST_F(StandinBlasLt, TheEpilogueNeedsItsBias) {
  SetBias(nullptr);
  EXPECT_EQ(Multiply(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  ExpectViolation("adds a bias, and there is none");
  Begin();
  SetBias(bias + 1);
  EXPECT_EQ(Multiply(nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  ExpectViolation("the bias reaches 4 bytes past");
}

TEST_F(StandinBlasLt, AnAlgorithmServesWhatItWasChosenFor) {
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

TEST_F(StandinBlasLt, TypesAndSizesOfAttributesMustBeRight) {
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

}  // namespace
}  // namespace hogbatch::standin
