#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/device/on_device.h"

namespace hogbatch {
namespace {

class Memory : public OnEveryDevice {};
HOGBATCH_ON_EVERY_DEVICE(Memory);

TEST_P(Memory, WhatWasUploadedIsDownloaded) {
  for (const std::size_t size : {1, 63, 4096, 1000003, 40000001}) {
    std::vector<char> sent(size), received(size);
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 31);
    const Buffer buffer(device(), size);
    void* base = buffer.span<char>().base;
    device().Upload(std::as_bytes(std::span(sent)), base, 0);
    device().Download(base, 0, std::as_writable_bytes(std::span(received)));
    device().Wait();
    EXPECT_EQ(received, sent);
  }
}

TEST_P(Memory, HostMemoryOfItsOwnTravelsLikeAnyOther) {
  for (const std::size_t size : {1, 4096, 1000003, 40000001}) {
    const HostBuffer sent(device(), size), received(device(), size + 2);
    for (std::size_t i = 0; i < size; ++i) sent.span<char>()[i] = static_cast<char>(i * 31);
    for (char& c : received.span<char>()) c = 7;
    const Buffer buffer(device(), size);
    void* base = buffer.span<char>().base;
    device().Upload(std::as_bytes(sent.span<char>()), base, 0);
    device().Download(base, 0, std::as_writable_bytes(received.span<char>().subspan(1, size)));
    device().WaitFor(device().SetMark());
    EXPECT_TRUE(std::ranges::equal(received.span<char>().subspan(1, size), sent.span<char>()));
    EXPECT_EQ(received.span<char>().front(), 7);
    EXPECT_EQ(received.span<char>().back(), 7);
  }
}

TEST_P(Memory, HostMemoryOfItsOwnMeetsAnyOtherOnTheDevice) {
  const HostBuffer ours(device(), 8 * sizeof(float));
  std::ranges::fill(ours.span<float>(), 1.0f);
  const std::vector<float> others(4, 2);
  std::vector<float> received(8);
  const Buffer buffer(device(), 8 * sizeof(float));
  void* base = buffer.span<float>().base;
  device().Upload(std::as_bytes(ours.span<float>()), base, 0);
  device().Upload(std::as_bytes(std::span(others)), base, 2 * sizeof(float));
  device().Download(base, 0, std::as_writable_bytes(std::span(received)));
  device().Wait();
  EXPECT_EQ(received, (std::vector<float>{1, 1, 2, 2, 2, 2, 1, 1}));
}

TEST_P(Memory, HostMemoryMayBeFreedBehindQueuedWork) {
  constexpr std::size_t kBytes = 1000000;
  const Buffer buffer(device(), kBytes);
  void* base = buffer.span<char>().base;
  std::vector<char> received(kBytes);
  {
    const HostBuffer sent(device(), kBytes), lost(device(), kBytes);
    std::ranges::fill(sent.span<char>(), 5);
    device().Upload(std::as_bytes(sent.span<char>()), base, 0);
    device().Download(base, 0, std::as_writable_bytes(lost.span<char>()));
  }
  device().Download(base, 0, std::as_writable_bytes(std::span(received)));
  device().Wait();
  EXPECT_EQ(received, std::vector<char>(kBytes, 5));
}

TEST_P(Memory, AMovedHostBufferTakesItsMemoryAlong) {
  HostBuffer first(device(), 64);
  const char* const memory = first.span<char>().data();
  const HostBuffer second = std::move(first);
  EXPECT_EQ(second.span<char>().data(), memory);
  EXPECT_EQ(second.bytes(), 64u);
  EXPECT_EQ(first.bytes(), 0u);
  EXPECT_TRUE(HostBuffer(device(), 0).span<char>().empty());
}

TEST_P(Memory, OffsetsCountBytes) {
  const std::vector<float> zeros(4, 0), two = {1, 2};
  std::vector<float> all(4), last(1);
  const Buffer buffer(device(), 4 * sizeof(float));
  void* base = buffer.span<float>().base;
  device().Upload(std::as_bytes(std::span(zeros)), base, 0);
  device().Upload(std::as_bytes(std::span(two)), base, 2 * sizeof(float));
  device().Download(base, 0, std::as_writable_bytes(std::span(all)));
  device().Download(base, 3 * sizeof(float), std::as_writable_bytes(std::span(last)));
  device().Wait();
  EXPECT_EQ(all, (std::vector<float>{0, 0, 1, 2}));
  EXPECT_EQ(last, (std::vector<float>{2}));
}

TEST_P(Memory, EmptyTransfersDoNothing) {
  const Buffer buffer(device(), 0);
  EXPECT_EQ(buffer.bytes(), 0u);
  EXPECT_NO_THROW(device().Upload({}, buffer.span<float>().base, 0));
  EXPECT_NO_THROW(device().Download(buffer.span<float>().base, 0, {}));
}

TEST_P(Memory, BlocksAreAlignedToCacheLines) {
  if (!device().info().shares_host_memory) GTEST_SKIP() << "its addresses are not the host's";
  for (const std::size_t size : {1, 100, 5000000}) {
    const Buffer buffer(device(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.span<float>().base) % 64, 0u);
  }
}

TEST_P(Memory, AMovedBufferTakesItsBlockAlong) {
  Buffer first(device(), 1024);
  void* const block = first.span<float>().base;
  Buffer second(std::move(first));
  EXPECT_EQ(second.span<float>().base, block);
  EXPECT_EQ(second.span<float>().size, 256);
  EXPECT_EQ(first.bytes(), 0u);
  EXPECT_EQ(first.span<float>().base, nullptr);

  first = Buffer(device(), 64);  // a moved-from buffer may be used again
  EXPECT_EQ(first.bytes(), 64u);
  first = std::move(second);
  EXPECT_EQ(first.span<float>().base, block);
  EXPECT_EQ(second.bytes(), 0u);
}

TEST_P(Memory, SpansDoNotReachPastTheirBlock) {
  const Buffer buffer(device(), 10 * sizeof(float));
  EXPECT_EQ(buffer.span<float>().Sub(4, 6).size, 6);
  EXPECT_THROW(buffer.span<float>().Sub(4, 7), Error);
  EXPECT_THROW(Tensor::Matrix(buffer.span<float>(), 3, 4), Error);
  EXPECT_THROW(Tensor::Matrix(buffer.span<float>(), 2, 5).Rows(3), Error);
}

TEST_P(Memory, AskingForTooMuchFailsAndTheDeviceWorksOn) {
  EXPECT_THROW(Buffer(device(), std::size_t{1} << 50), OutOfDeviceMemory);
  const std::vector<float> sent(1000, 3);
  std::vector<float> received(1000);
  const Buffer buffer(device(), 4000);
  device().Upload(std::as_bytes(std::span(sent)), buffer.span<float>().base, 0);
  EXPECT_THROW(Buffer(device(), std::size_t{1} << 50), OutOfDeviceMemory);
  device().Download(buffer.span<float>().base, 0, std::as_writable_bytes(std::span(received)));
  device().Wait();
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace hogbatch
