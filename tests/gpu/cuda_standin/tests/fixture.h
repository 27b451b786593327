// What the stand-in's own tests share: calls that must succeed, and mistakes that must be seen.
#pragma once

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/kernels.h"
#include "tests/gpu/cuda_standin/standin.h"

namespace hogbatch::standin {

template <typename T>
T* Allocate(std::size_t count) {
  void* address = nullptr;
  EXPECT_EQ(cudaMalloc(&address, count * sizeof(T)), cudaSuccess);
  return static_cast<T*>(address);
}

template <typename T>
T* AllocatePinned(std::size_t count) {
  void* address = nullptr;
  EXPECT_EQ(cudaMallocHost(&address, count * sizeof(T)), cudaSuccess);
  return static_cast<T*>(address);
}

inline cudaStream_t MakeStream() {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  return stream;
}

inline cudaEvent_t RecordEvent(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  return event;
}

// Launches hb_fill over floats that lie without gaps.
inline cudaError_t Fill(float* to, float value, long count, cudaStream_t stream, dim3 groups = 1,
                        dim3 items = HB_ITEMS, std::size_t shared_bytes = 0) {
  long at = 0, stride = count, rows = 1;
  void* arguments[] = {&to, &at, &stride, &value, &rows, &count};
  return cudaLaunchKernel(reinterpret_cast<const void*>(&hb_fill), groups, items, arguments,
                          shared_bytes, stream);
}

inline cudaError_t Upload(float* to, const float* pinned, std::size_t count, cudaStream_t stream) {
  return cudaMemcpyAsync(to, pinned, count * sizeof(float), cudaMemcpyHostToDevice, stream);
}

inline cudaError_t Download(float* pinned, const float* from, std::size_t count,
                            cudaStream_t stream) {
  return cudaMemcpyAsync(pinned, from, count * sizeof(float), cudaMemcpyDeviceToHost, stream);
}

// The floats at an address, by way of a stream of their own; the test has waited for all else.
inline std::vector<float> Read(const float* from, std::size_t count) {
  const cudaStream_t stream = MakeStream();
  float* pinned = AllocatePinned<float>(count);
  EXPECT_EQ(Download(pinned, from, count, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  std::vector<float> values(pinned, pinned + count);
  cudaFreeHost(pinned);
  cudaStreamDestroy(stream);
  return values;
}

class Standin : public testing::Test {
 protected:
  Standin() {
    Restart({});
    cudaSetDevice(0);
    cudaGetLastError();
  }

  // The one thing that was wrong is said in these words. What a test with a mistake leaves behind
  // is not looked at.
  static void ExpectViolation(std::string_view words) {
    std::vector<std::string> sentences = TakeViolations();
    std::erase_if(sentences, [](const std::string& sentence) {
      return sentence.ends_with("were not freed") || sentence.starts_with("not destroyed");
    });
    EXPECT_THAT(sentences, testing::ElementsAre(testing::HasSubstr(std::string(words))));
  }
  // Nothing was wrong, whatever is left behind.
  static void ExpectNoViolation() {
    for (const std::string& sentence : TakeViolations()) {
      EXPECT_TRUE(sentence.ends_with("were not freed") || sentence.starts_with("not destroyed"))
          << sentence;
    }
  }
  ~Standin() override { Restart({}); }
};

}  // namespace hogbatch::standin
