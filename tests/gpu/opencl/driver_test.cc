#include "gpu/opencl/driver.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "core/random.h"
#include "tests/gpu/opencl/devices.h"
#include "tests/gpu/opencl/queued_work.h"

namespace hogbatch::opencl {
namespace {

using gpu::Stream;

class OpenClDriver : public OnOpenCl {
 protected:
  void SetUp() override {
    OnOpenCl::SetUp();
    if (!IsSkipped()) driver_ = MakeDriver(device().info);
  }
  gpu::Driver& driver() { return *driver_; }

 private:
  std::unique_ptr<gpu::Driver> driver_;
};

TEST_F(OpenClDriver, NamesDeviceCallAndReasonOfAFailure) {
  const std::string sentence =
      SentenceOf<DeviceError>([&] { driver().Launch({gpu::Kernel::hb_fill, 1, {}, {}}); });
  EXPECT_EQ(sentence,
            "opencl.0 (" + device().hardware_name +
                "): clEnqueueNDRangeKernel of hb_fill failed: CL_INVALID_KERNEL_ARGS (-52)");
}

TEST_F(OpenClDriver, RefusesMemoryBeyondTheDevices) {
  const auto all = static_cast<std::size_t>(driver().info().memory_bytes);
  for (const std::size_t bytes : {all + 1, std::numeric_limits<std::size_t>::max()}) {
    const std::string sentence = SentenceOf<OutOfDeviceMemory>([&] { driver().Allocate(bytes); });
    EXPECT_NE(sentence.find("opencl.0 (" + device().hardware_name + "): no memory for"),
              std::string::npos)
        << sentence;
  }
  const Block block(driver(), 1, 8);  // and is still usable
  Fill(driver(), block.tensor(), 3);
  EXPECT_EQ(Fetch(driver(), block), std::vector<float>(8, 3));
}

// Also where memory is only taken when it is used.
TEST_F(OpenClDriver, RefusesMemoryThatIsInUse) {
  const auto tenth = static_cast<std::size_t>(driver().info().memory_bytes) / 10;
  std::vector<void*> blocks;
  const std::string sentence = SentenceOf<OutOfDeviceMemory>([&] {
    while (blocks.size() <= 10) blocks.push_back(driver().Allocate(tenth));
  });
  EXPECT_NE(sentence.find("no memory for"), std::string::npos) << sentence;
  for (void* block : blocks) driver().Free(block);
  driver().Free(driver().Allocate(tenth));
}

TEST_F(OpenClDriver, RefusesABlockBeyondTheLargest) {
  cl_ulong largest = 0;
  ASSERT_EQ(clGetDeviceInfo(device().id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest,
                            nullptr),
            CL_SUCCESS);
  if (largest >= static_cast<cl_ulong>(driver().info().memory_bytes)) {
    GTEST_SKIP() << "all of its memory may be one block";
  }
  const std::string sentence =
      SentenceOf<OutOfDeviceMemory>([&] { driver().Allocate(largest + 1); });
  EXPECT_NE(sentence.find("CL_INVALID_BUFFER_SIZE (-61)"), std::string::npos) << sentence;
}

TEST_F(OpenClDriver, MayBeDestroyedWithWorkQueued) {
  gpu::Driver& busy = driver();
  void* const block = busy.Allocate(4000000);
  for (int i = 0; i < 50; ++i) {
    Fill(busy, Tensor::Matrix({block, 0, 1000000}, 1000, 1000), 1);
  }
  busy.Free(block);
}

// Every step's three pieces run on three queues, and only events keep them in order: what is
// uploaded is used after it came, downloaded after it was computed, and its place is taken again
// after that. Large enough for one queue to overtake another.
void ExpectOrderedPipeline(gpu::Driver& driver, float sign) {
  constexpr int kSteps = 60;
  constexpr std::int64_t kSize = 300000;
  const Block input(driver, 1, kSize), sum(driver, 1, kSize), output(driver, 1, kSize);
  std::vector<std::unique_ptr<Pinned>> sent, received;
  for (int i = 0; i < kSteps; ++i) {
    sent.push_back(std::make_unique<Pinned>(driver, kSize));
    received.push_back(std::make_unique<Pinned>(driver, kSize));
    std::ranges::fill(sent[i]->values(), sign * static_cast<float>(i + 1));
    std::ranges::fill(received[i]->values(), 0.0f);
  }
  Fill(driver, sum.tensor(), 0);
  for (int i = 0; i < kSteps; ++i) {
    Order(driver, Stream::kCompute, Stream::kUpload);  // the last step has read `input`
    driver.Upload(sent[i]->values().data(), input.address(), 0, input.bytes());
    Order(driver, Stream::kUpload, Stream::kCompute);
    AddScaled(driver, input.tensor(), 1, 1, sum.tensor());
    Order(driver, Stream::kDownload, Stream::kCompute);  // the last step has left `output`
    AddScaled(driver, sum.tensor(), 2, 0, output.tensor());
    Order(driver, Stream::kCompute, Stream::kDownload);
    driver.Download(output.address(), 0, received[i]->values().data(), output.bytes());
  }
  driver.Synchronize();
  for (int i = 0; i < kSteps; ++i) {
    const auto expected = sign * static_cast<float>((i + 1) * (i + 2));
    const auto wrong =
        std::ranges::find_if(received[i]->values(), [&](float v) { return v != expected; });
    ASSERT_EQ(wrong, received[i]->values().end()) << "step " << i << " got " << *wrong;
  }
}

TEST_F(OpenClDriver, OrdersItsQueuesByEvents) {
  for (int round = 0; round < 2; ++round) ExpectOrderedPipeline(driver(), 1);
}

TEST_F(OpenClDriver, WorksBesideAnotherOfTheSameDevice) {
  std::jthread other([info = device().info] {
    const std::unique_ptr<gpu::Driver> second = MakeDriver(info);
    for (int round = 0; round < 2; ++round) ExpectOrderedPipeline(*second, -1);
  });
  for (int round = 0; round < 2; ++round) ExpectOrderedPipeline(driver(), 1);
}

TEST_F(OpenClDriver, RunsKernelsFromTheCache) {
  const std::string folder =
      testing::TempDir() + "/hogbatch_RunsKernelsFromTheCache" + std::to_string(getpid());
  for (const float value : {4.0f, 5.0f}) {
    const auto cached = MakeDriver(device().info, {.cache = ProgramCache(folder)});
    const Block block(*cached, 3, 100);
    Fill(*cached, block.tensor(), value);
    EXPECT_EQ(Fetch(*cached, block), std::vector<float>(300, value));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hogbatch::opencl
