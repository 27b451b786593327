#include "gpu/gpu_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "device/buffer.h"
#include "gpu/gpu_device.h"
#include "tests/gpu/host_driver.h"
#include "tests/gpu/recording_driver.h"

namespace hogbatch::gpu {
namespace {

std::span<const std::byte> Bytes(const std::vector<float>& v) {
  return std::as_bytes(std::span(v));
}
std::span<std::byte> Bytes(std::vector<float>& v) { return std::as_writable_bytes(std::span(v)); }

// A bit of everything a training step does.
std::vector<float> Step(Device& device) {
  const std::vector<float> numbers(6, 2);
  std::vector<float> result(6, 0);
  const Buffer x(device, 6 * sizeof(float)), y(device, 6 * sizeof(float));
  const Tensor a = Tensor::Matrix(x.span<float>(), 2, 3), b = Tensor::Matrix(y.span<float>(), 2, 3);
  device.Upload(Bytes(numbers), x.span<float>().base, 0);
  device.Fill(b, 1);
  device.AddScaled(a, 3, 1, b);
  device.DenseBackwardWeights(a, a, 1, 0, Tensor::Matrix(Buffer(device, 64).span<float>(), 3, 3),
                              Tensor::Vector(Buffer(device, 16).span<float>()));
  device.Download(y.span<float>().base, 0, Bytes(result));
  const std::int64_t mark = device.SetMark();
  device.AddScaled(a, 3, 1, b);
  device.WaitFor(mark);
  std::vector<float> last(6, 0);
  device.Download(y.span<float>().base, 0, Bytes(last));
  device.Wait();
  EXPECT_EQ(last, std::vector<float>(6, 13));
  return result;
}

TEST(GpuDevice, NothingBlocksButWait) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({}, log));
  const std::vector<float> numbers(1000, 2);
  std::vector<float> results(1000, 0);
  const Buffer buffer(*device, 4000);
  for (int i = 0; i < 100; ++i) {
    device->Upload(Bytes(numbers), buffer.span<float>().base, 0);
    device->Fill(Tensor::Vector(buffer.span<float>()), 1);
    device->Download(buffer.span<float>().base, 0, Bytes(results));
    Buffer(*device, 4000);
  }
  EXPECT_EQ(log->synchronized, 0);
  EXPECT_EQ(results, std::vector<float>(1000, 0)) << "results arrive in Wait";
  device->Wait();
  EXPECT_EQ(log->synchronized, 1);
  EXPECT_EQ(results, std::vector<float>(1000, 1));
}

TEST(GpuDevice, HostMemoryOfItsOwnTakesNoDetour) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({}, log));
  const HostBuffer sent(*device, 4000), received(*device, 4000);
  EXPECT_EQ(log->pinned_chunks, 2);
  std::ranges::fill(sent.span<float>(), 3.0f);
  std::ranges::fill(received.span<float>(), 0.0f);
  const Buffer buffer(*device, 4000);
  device->Upload(std::as_bytes(sent.span<float>()), buffer.span<float>().base, 0);
  device->Download(buffer.span<float>().base, 0, std::as_writable_bytes(received.span<float>()));
  EXPECT_EQ(log->synchronized, 0);
  device->Wait();
  EXPECT_EQ(received.span<float>()[999], 3);
  EXPECT_EQ(log->pinned_chunks, 2) << "nothing was staged";
}

TEST(GpuMemory, HostMemoryIsOrdinaryWhereNoMoreCanBePinned) {
  RecordingDriver driver;
  driver.most_pinned = Staging::kSmallest + 100;
  GpuMemory memory(driver);
  void* const block = memory.Allocate(100);
  auto* const pinned = static_cast<std::byte*>(memory.AllocateHost(100));
  auto* const ordinary = static_cast<std::byte*>(memory.AllocateHost(Staging::kSmallest + 1));
  EXPECT_EQ(driver.Take(), (std::vector<std::string>{"pin 100"}));
  memory.Upload({pinned, 100}, block, 0);
  EXPECT_EQ(driver.Take(), (std::vector<std::string>{"record upload 1"}));
  memory.Upload({ordinary, 100}, block, 0);
  EXPECT_EQ(driver.Take().front(), "pin 65536") << "it is staged";
  memory.FreeHost(pinned);
  EXPECT_TRUE(driver.Take().empty()) << "transfers may be under way";
  auto* const again = static_cast<std::byte*>(memory.AllocateHost(90));
  EXPECT_EQ(driver.Take().back(), "pin 90") << "what was freed made room";
  memory.FreeHost(again);
  memory.FreeHost(ordinary);
  EXPECT_TRUE(driver.Take().empty()) << "transfers may be under way";
  memory.Wait();
  EXPECT_EQ(std::ranges::count(driver.Take(), "unpin"), 1);
}

TEST(GpuDevice, WaitsForAMarkWithoutBeingIdle) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({}, log));
  std::vector<std::vector<float>> results(20, std::vector<float>(1000, 0));
  const Buffer buffer(*device, 4000);
  std::vector<std::int64_t> marks;
  for (std::size_t i = 0; i < results.size(); ++i) {
    // More than the driver gets done when it is asked for staging memory.
    for (int times = 0; times < 30; ++times) {
      device->Fill(Tensor::Vector(buffer.span<float>()), static_cast<float>(i + 1));
    }
    device->Download(buffer.span<float>().base, 0, Bytes(results[i]));
    marks.push_back(device->SetMark());
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    device->WaitFor(marks[i]);
    EXPECT_EQ(results[i], std::vector<float>(1000, static_cast<float>(i + 1)));
    if (i + 1 < results.size()) {
      EXPECT_EQ(results[i + 1], std::vector<float>(1000, 0)) << "it is not waited for";
    }
  }
  EXPECT_EQ(log->synchronized, 0);
  EXPECT_GT(log->synchronized_events, 10);
}

TEST(GpuDevice, AMarkThatHasComeCostsNoCall) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({}, log));
  const std::int64_t idle = device->SetMark();
  EXPECT_EQ(log->calls, 0) << "nothing is queued";
  const Buffer buffer(*device, 4000);
  device->Fill(Tensor::Vector(buffer.span<float>()), 1);
  const std::int64_t first = device->SetMark(), second = device->SetMark();
  device->WaitFor(second);
  const int calls = log->calls;
  for (const std::int64_t mark : {idle, second, first}) device->WaitFor(mark);
  EXPECT_EQ(log->calls, calls);
  device->Fill(Tensor::Vector(buffer.span<float>()), 2);
  const std::int64_t third = device->SetMark();
  EXPECT_GT(third, second);
  device->Wait();
  device->WaitFor(third);
  EXPECT_EQ(log->synchronized_events, 1) << "to wait for everything is to wait for every mark";
}

TEST(GpuDevice, RefusesMarksThatItNeverSet) {
  const auto device = MakeGpuDevice(MakeHostDriver({}));
  EXPECT_THROW(device->WaitFor(device->SetMark() + 1), Error);
}

TEST(GpuDevice, UsesStagingMemoryAgainThatAMarkFreed) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({}, log));
  std::vector<float> result(1000, 0);
  const Buffer buffer(*device, 4000);
  for (int i = 0; i < 100; ++i) {
    device->Fill(Tensor::Vector(buffer.span<float>()), static_cast<float>(i));
    device->Download(buffer.span<float>().base, 0, Bytes(result));
    device->WaitFor(device->SetMark());
    ASSERT_EQ(result, std::vector<float>(1000, static_cast<float>(i)));
  }
  EXPECT_EQ(log->pinned_chunks, 1);
  EXPECT_EQ(log->synchronized, 0);
}

TEST(GpuDevice, MarksOutliveAShortageOfMemory) {
  const auto device = MakeGpuDevice(MakeHostDriver({.memory_bytes = 10000}));
  Buffer buffer(*device, 6000);
  std::vector<float> result(1500, 0);
  device->Fill(Tensor::Vector(buffer.span<float>()), 1);
  device->Download(buffer.span<float>().base, 0, Bytes(result));
  const std::int64_t mark = device->SetMark();
  buffer = {};
  buffer = Buffer(*device, 6000);  // waits for everything
  device->Fill(Tensor::Vector(buffer.span<float>()), 2);
  device->WaitFor(mark);
  EXPECT_EQ(result, std::vector<float>(1500, 1));
}

TEST(GpuDevice, GivesFreedMemoryBackInWait) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({}, log));
  Buffer buffer(*device, 4000);
  device->Fill(Tensor::Vector(buffer.span<float>()), 1);
  buffer = {};
  EXPECT_EQ(log->bytes_in_use, 4000u) << "the filling may be under way";
  device->WaitFor(device->SetMark());
  EXPECT_EQ(log->bytes_in_use, 4000u) << "to give it back may wait for everything";
  device->Wait();
  EXPECT_EQ(log->bytes_in_use, 0u);
}

TEST(GpuDevice, GivesFreedMemoryBackWhenMemoryIsShort) {
  const auto device = MakeGpuDevice(MakeHostDriver({.memory_bytes = 10000}));
  Buffer buffer(*device, 6000);
  device->Fill(Tensor::Vector(buffer.span<float>()), 1);
  EXPECT_THROW(Buffer(*device, 6000), OutOfDeviceMemory);
  buffer = {};
  EXPECT_NO_THROW(Buffer(*device, 6000));
}

TEST(GpuDevice, KeepsDownloadsUnderWayWhenMemoryIsShort) {
  const auto device = MakeGpuDevice(MakeHostDriver({.memory_bytes = 10000}));
  Buffer buffer(*device, 6000);
  std::vector<float> results(1500, 0), other(1500, 0);
  device->Fill(Tensor::Vector(buffer.span<float>()), 1);
  device->Download(buffer.span<float>().base, 0, Bytes(results));
  buffer = {};
  buffer = Buffer(*device, 6000);
  device->Fill(Tensor::Vector(buffer.span<float>()), 2);
  device->Download(buffer.span<float>().base, 0, Bytes(other));
  device->Wait();
  EXPECT_EQ(results, std::vector<float>(1500, 1));
  EXPECT_EQ(other, std::vector<float>(1500, 2));
}

TEST(GpuDevice, MayEndWithWorkUnderWay) {
  std::vector<float> results(1000, 0);
  {
    const auto device = MakeGpuDevice(MakeHostDriver({}));
    const Buffer buffer(*device, 4000);
    device->Fill(Tensor::Vector(buffer.span<float>()), 1);
    device->Download(buffer.span<float>().base, 0, Bytes(results));
  }
  EXPECT_EQ(results, std::vector<float>(1000, 0)) << "without Wait nothing is promised";
}

TEST(GpuDevice, GivesBackBlocksThatNobodyFreed) {
  const auto log = std::make_shared<HostDriverLog>();
  MakeGpuDevice(MakeHostDriver({}, log))->Allocate(100);
  EXPECT_EQ(log->bytes_in_use, 0u);
}

// The driver itself fails the test for whatever is left behind.
TEST(GpuDevice, LeavesNothingBehindWhicheverCallFails) {
  const auto log = std::make_shared<HostDriverLog>();
  EXPECT_EQ(Step(*MakeGpuDevice(MakeHostDriver({}, log))), std::vector<float>(6, 7));
  const int calls = log->calls;
  EXPECT_GT(calls, 15);
  for (int n = 1; n <= calls - 1; ++n) {  // the last is the end's own Synchronize
    SCOPED_TRACE(testing::Message() << "call " << n);
    const auto device = MakeGpuDevice(MakeHostDriver({.fail_call = n}));
    EXPECT_THROW(Step(*device), DeviceError);
  }
}

TEST(GpuDevice, LeavesFusedWorkToLibrariesThatDoIt) {
  const auto log = std::make_shared<HostDriverLog>();
  const auto device = MakeGpuDevice(MakeHostDriver({.libraries = Libraries::kFusing}, log));
  const Buffer buffer(*device, 1 << 20);
  const auto matrix = [&](std::int64_t rows, std::int64_t cols) {
    return Tensor::Matrix(buffer.span<float>(), rows, cols);
  };
  const auto forward = [&](Activation f, const Tensor& pre) {
    device->DenseForward(matrix(4, 5), matrix(5, 6), matrix(1, 6), f, matrix(4, 6), pre);
    return log->products_with_bias;
  };
  EXPECT_EQ(forward(Activation::kRelu, {}), 1);
  EXPECT_EQ(forward(Activation::kGelu, matrix(4, 6)), 1) << "the sum is wanted, too";
  EXPECT_EQ(forward(Activation::kTanh, {}), 1) << "this library cannot do it";
  const auto loss = [&](std::int64_t outputs, const Tensor& gradient) {
    const DeviceSpan<std::int32_t> classes = buffer.span<std::int32_t>();
    device->SoftmaxLoss(matrix(2, outputs), {.classes = {classes.base, 0, 2}}, {}, 1, matrix(1, 2),
                        gradient);
    return log->log_softmaxes;
  };
  EXPECT_EQ(loss(10000, matrix(2, 10000)), 1);
  EXPECT_EQ(loss(10, matrix(2, 10)), 1) << "a short row is one kernel's work";
  EXPECT_EQ(loss(10000, {}), 1) << "there is no place for it";
}

TEST(GpuDevice, RefusesMemoryOfAnotherDevice) {
  const auto device = MakeGpuDevice(MakeHostDriver({})), other = MakeGpuDevice(MakeHostDriver({}));
  const Buffer buffer(*other, 64);
  EXPECT_THROW(device->Fill(Tensor::Vector(buffer.span<float>()), 1), Error);
}

}  // namespace
}  // namespace hogbatch::gpu
