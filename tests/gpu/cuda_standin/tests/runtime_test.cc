#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>

#include <cstdlib>

#include "tests/gpu/cuda_standin/tests/fixture.h"

namespace hogbatch::standin {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class StandinRuntime : public Standin {};

TEST_F(StandinRuntime, WhatIsGivenBackIsNoViolation) {
  float* block = Allocate<float>(10);
  float* pinned = AllocatePinned<float>(10);
  const cudaStream_t stream = MakeStream();
  const cudaEvent_t event = RecordEvent(stream);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, WhatIsNotGivenBackIsAViolation) {
  const auto expect_leak = [](std::string_view words) {
    EXPECT_THAT(TakeViolations(), testing::ElementsAre(HasSubstr(std::string(words))));
  };
  Allocate<float>(10);
  expect_leak("40 bytes at");
  AllocatePinned<float>(10);
  expect_leak("of pinned memory were not freed");
  MakeStream();
  expect_leak("not destroyed: stream");
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  expect_leak("not destroyed: event");
  cublasHandle_t blas = nullptr;
  cublasCreate(&blas);
  expect_leak("not destroyed: cuBLAS handle");
  cublasLtHandle_t lt = nullptr;
  cublasLtCreate(&lt);
  expect_leak("not destroyed: cublasLt handle");
  cublasLtMatmulDesc_t matmul = nullptr;
  cublasLtMatmulDescCreate(&matmul, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  expect_leak("not destroyed: matmul descriptor");
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 1, 1, 1);
  expect_leak("not destroyed: matrix layout");
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulPreferenceCreate(&preference);
  expect_leak("not destroyed: matmul preference");
  cudnnHandle_t dnn = nullptr;
  cudnnCreate(&dnn);
  expect_leak("not destroyed: cuDNN handle");
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnCreateTensorDescriptor(&tensor);
  expect_leak("not destroyed: tensor descriptor");
}

TEST_F(StandinRuntime, TheHostCannotFollowADeviceAddress) {
  volatile float* block = Allocate<float>(10);
  EXPECT_DEATH(*block = 1, "");
}

TEST_F(StandinRuntime, WhatWasNotAllocatedIsNotFreed) {
  float* block = Allocate<float>(10);
  EXPECT_EQ(cudaFree(block + 1), cudaErrorInvalidValue);
  ExpectViolation("lies inside of");
  block = Allocate<float>(10);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(cudaFree(block), cudaErrorInvalidValue);
  ExpectViolation("lies in freed");
  float host = 0;
  EXPECT_EQ(cudaFree(&host), cudaErrorInvalidValue);
  ExpectViolation("lies in no memory of a device");
  EXPECT_EQ(cudaFreeHost(&host), cudaErrorInvalidValue);
  ExpectViolation("is no memory of cudaMallocHost");
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  ExpectNoViolation();
}

TEST_F(StandinRuntime, FullMemoryIsAnAnswerAndNoViolation) {
  Restart({.memory_bytes = 4096});
  void *first = nullptr, *second = nullptr;
  EXPECT_EQ(cudaMalloc(&first, 4096), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&second, 1), cudaSuccess);
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 4096u - 256u);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, total);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, AFreedAddressSometimesComesBack) {
  int came_back = 0;
  for (int i = 0; i < 100; ++i) {
    float* first = Allocate<float>(10);
    cudaFree(first);
    float* second = Allocate<float>(10);
    came_back += first == second ? 1 : 0;
    cudaFree(second);
  }
  EXPECT_GT(came_back, 10);
  EXPECT_LT(came_back, 90);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, WhatWasDestroyedIsNotUsed) {
  const cudaStream_t stream = MakeStream(), other = MakeStream();
  const cudaEvent_t event = RecordEvent(stream);
  cudaStreamDestroy(stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  ExpectViolation("the stream was destroyed before");
  cudaEventDestroy(event);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaErrorInvalidResourceHandle);
  TakeViolations();
}

TEST_F(StandinRuntime, AnEventIsNoStream) {
  const cudaEvent_t event = RecordEvent(MakeStream());
  EXPECT_EQ(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(event)),
            cudaErrorInvalidResourceHandle);
  ExpectViolation("this is no stream");
}

TEST_F(StandinRuntime, TheDefaultStreamsAreRefused) {
  for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread}) {
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    ExpectViolation("default stream");
    EXPECT_EQ(Fill(Allocate<float>(1), 1, 1, stream), cudaErrorInvalidResourceHandle);
    ExpectViolation("default stream");
  }
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamDefault), cudaErrorInvalidValue);
  ExpectViolation("cudaStreamNonBlocking");
}

TEST_F(StandinRuntime, ADriverOlderThanTheRuntimeIsRefused) {
  Restart({.driver_version = (CUDART_VERSION / 1000 - 1) * 1000});
  int version = 0, count = 0;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, (CUDART_VERSION / 1000 - 1) * 1000);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInsufficientDriver);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, AMachineWithoutDevicesSaysSo) {
  Restart({.devices = 0});
  int count = 7;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
  Restart({.devices = 1});
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, TheCallThatShallFailKillsItsDevice) {
  Restart({.fail_at = 3});
  float* block = Allocate<float>(10);
  const cudaStream_t stream = MakeStream();
  EXPECT_EQ(Fill(block, 1, 10, stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess) << "the other device lives";
  cudaFree(Allocate<float>(1));
  EXPECT_EQ(cudaSetDevice(0), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, ADeadDeviceStillTakesThingsBack) {
  Restart({.fail_at = 4});
  float* block = Allocate<float>(10);
  float* pinned = AllocatePinned<float>(10);
  const cudaStream_t stream = MakeStream();
  EXPECT_EQ(Upload(block, pinned, 10, stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaFree(block), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaFreeHost(pinned), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorLaunchFailure);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(StandinRuntime, ViolationsThatNobodyTookEndTheProcess) {
  EXPECT_EXIT(
      {
        Allocate<float>(10);
        std::exit(0);
      },
      testing::ExitedWithCode(kViolated), "CUDA stand-in: 40 bytes .* were not freed");
}

}  // namespace
}  // namespace hogbatch::standin
