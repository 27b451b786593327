#include <set>

#include "tests/gpu/cuda_standin/tests/fixture.h"

namespace hogbatch::standin {
namespace {

class StandinKernels : public Standin {
 protected:
  float* block = Allocate<float>(1000);
  cudaStream_t stream = MakeStream();
};

TEST_F(StandinKernels, AllGroupsRun) {
  for (const unsigned groups : {1u, 2u, 3u, 100u}) {
    EXPECT_EQ(Fill(block, static_cast<float>(groups), 1000, stream, groups), cudaSuccess);
    cudaStreamSynchronize(stream);
    EXPECT_EQ(Read(block, 1000), std::vector<float>(1000, static_cast<float>(groups)));
  }
  ExpectNoViolation();
}

TEST_F(StandinKernels, ArgumentsAreCopiedAtTheLaunch) {
  float* to = block;
  float value = 1;
  long at = 0, stride = 1000, rows = 1, cols = 1000;
  void* arguments[] = {&to, &at, &stride, &value, &rows, &cols};
  cudaLaunchKernel(reinterpret_cast<const void*>(&hb_fill), 1, HB_ITEMS, arguments, 0, stream);
  value = 2;
  to = nullptr;
  cols = 1;
  cudaStreamSynchronize(stream);
  EXPECT_EQ(Read(block, 1000), std::vector<float>(1000, 1));
  ExpectNoViolation();
}

TEST_F(StandinKernels, OnlyKernelsAreLaunched) {
  int no_kernel = 0;
  EXPECT_EQ(cudaLaunchKernel(&no_kernel, 1, HB_ITEMS, nullptr, 0, stream),
            cudaErrorInvalidDeviceFunction);
  ExpectViolation("there is no kernel at this address");
}

TEST_F(StandinKernels, TheGridMustBeOneThatRuns) {
  const auto expect_refusal = [&](dim3 groups, dim3 items, std::size_t shared,
                                  std::string_view words) {
    EXPECT_EQ(Fill(Allocate<float>(10), 1, 10, MakeStream(), groups, items, shared),
              cudaErrorInvalidConfiguration);
    ExpectViolation(words);
  };
  expect_refusal(1, 128, 0, "a group has 128 items");
  expect_refusal(1, dim3(128, 2), 0, "a group has 256 items, not 256");
  expect_refusal(0, HB_ITEMS, 0, "no device runs a grid of 0");
  expect_refusal(0x80000000u, HB_ITEMS, 0, "no device runs a grid of 2147483648");
  expect_refusal(dim3(1, 2), HB_ITEMS, 0, "no device runs a grid of 1 × 2");
  expect_refusal(1, HB_ITEMS, 4, "shared memory");
}

TEST_F(StandinKernels, ArgumentsLieInLiveMemoryOfTheDevice) {
  cudaFree(block);
  EXPECT_EQ(Fill(block, 1, 10, stream), cudaErrorIllegalAddress);
  ExpectViolation("an argument at");
  std::vector<float> host(10);
  EXPECT_EQ(Fill(host.data(), 1, 10, MakeStream()), cudaErrorIllegalAddress);
  ExpectViolation("lies in no memory of a device");
  block = Allocate<float>(10);
  cudaSetDevice(1);
  EXPECT_EQ(Fill(block, 1, 10, MakeStream()), cudaErrorIllegalAddress);
  ExpectViolation("the work is device 1's");
}

TEST_F(StandinKernels, AnArgumentIsAlignedToItsType) {
  float* between = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(block) + 2);
  EXPECT_EQ(Fill(between, 1, 10, stream), cudaErrorIllegalAddress);
  ExpectViolation("not aligned");
}

TEST_F(StandinKernels, TheThreadsDeviceMustBeTheStreams) {
  cudaSetDevice(1);
  EXPECT_EQ(Fill(block, 1, 10, stream), cudaErrorInvalidResourceHandle);
  ExpectViolation("hb_fill is launched on a stream of device 0, the thread's device is 1");
}

// By AddressSanitizer at once, else by what stands behind the block when it is freed.
TEST_F(StandinKernels, AKernelThatRunsPastItsBlockIsSeen) {
  EXPECT_EXIT(
      {
        Fill(block, 1, 1001, stream);
        cudaFree(block);
        cudaStreamDestroy(stream);
        std::exit(0);
      },
      [](int status) { return status != 0; },
      "wrote past the end of 4000 bytes|heap-buffer-overflow");
}

}  // namespace
}  // namespace hogbatch::standin
