#include "tests/gpu/host_driver.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <new>
#include <random>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "tests/gpu/host_math.h"

namespace hogbatch::gpu {
namespace {

constexpr std::align_val_t kAlignment{64};

// What has been queued on a stream: work, or waiting for an event.
struct Happening {
  bool has_come = false;
};
struct Item {
  std::function<void()> work;
  std::shared_ptr<Happening> awaited;
};

// Host memory in blocks of known sizes.
class Blocks {
 public:
  std::byte* Add(std::size_t bytes) {
    auto* block = static_cast<std::byte*>(::operator new(bytes, kAlignment));
    std::memset(block, 0xff, bytes);  // NaN: nobody may count on zeros
    sizes_[block] = bytes;
    return block;
  }
  // Returns its size.
  std::size_t Remove(void* block) {
    const auto found = sizes_.find(static_cast<std::byte*>(block));
    if (found == sizes_.end()) {
      ADD_FAILURE() << "memory given back that was not handed out";
      return 0;
    }
    const std::size_t bytes = found->second;
    sizes_.erase(found);
    ::operator delete(block, kAlignment);
    return bytes;
  }
  bool Contains(const void* from, std::size_t bytes) const {
    const auto* begin = static_cast<const std::byte*>(from);
    auto after = sizes_.upper_bound(const_cast<std::byte*>(begin));
    if (after == sizes_.begin()) return false;
    const auto& [block, size] = *--after;
    return begin + bytes <= block + size;
  }
  bool IsBlock(void* block) const { return sizes_.contains(static_cast<std::byte*>(block)); }
  bool empty() const { return sizes_.empty(); }

 private:
  std::map<std::byte*, std::size_t> sizes_;
};

class HostDriver final : public Driver {
 public:
  HostDriver(HostDriverOptions options, std::shared_ptr<HostDriverLog> log)
      : options_(options), log_(std::move(log)), random_(options.seed) {
    if (!log_) log_ = std::make_shared<HostDriverLog>();
    info_.name = "host.0";
    info_.description = "a driver over host memory";
    info_.kind = DeviceKind::kOpenCl;
    info_.shares_host_memory = false;
  }
  ~HostDriver() override {
    EXPECT_TRUE(blocks_.empty()) << "device memory was not given back";
    EXPECT_TRUE(pinned_.empty()) << "pinned memory was not given back";
    EXPECT_TRUE(events_.empty()) << "events were not released";
  }
  HostDriver(const HostDriver&) = delete;
  HostDriver& operator=(const HostDriver&) = delete;

  const DeviceInfo& info() const override { return info_; }

  void* Allocate(std::size_t bytes) override {
    Count();
    if (bytes > options_.memory_bytes - log_->bytes_in_use) {
      throw OutOfDeviceMemory("host.0: there is not so much memory");
    }
    log_->bytes_in_use += bytes;
    return blocks_.Add(bytes);
  }
  void Free(void* block) noexcept override { log_->bytes_in_use -= blocks_.Remove(block); }
  void* AllocatePinned(std::size_t bytes) override {
    Count();
    ++log_->pinned_chunks;
    return pinned_.Add(bytes);
  }
  void FreePinned(void* memory) noexcept override { pinned_.Remove(memory); }

  void Upload(const void* host, void* block, std::size_t offset, std::size_t bytes) override {
    Count();
    CheckTransfer(host, block, offset, bytes);
    Queue(Stream::kUpload,
          [=] { std::memcpy(static_cast<std::byte*>(block) + offset, host, bytes); });
  }
  void Download(const void* block, std::size_t offset, void* host, std::size_t bytes) override {
    Count();
    CheckTransfer(host, block, offset, bytes);
    Queue(Stream::kDownload,
          [=] { std::memcpy(host, static_cast<const std::byte*>(block) + offset, bytes); });
  }

  Event Record(Stream stream) override {
    Count();
    auto happening = std::make_shared<Happening>();
    events_[happening.get()] = happening;
    Queue(stream, [=] { happening->has_come = true; });
    return happening.get();
  }
  void Await(Stream waiter, Event event) override {
    Count();
    StreamOf(waiter).push_back({.work = {}, .awaited = events_.at(event)});
  }
  bool HasCompleted(Event event) override {
    Count();
    for (auto steps = random_() % 4; steps > 0; --steps) Step();
    return events_.at(event)->has_come;
  }
  void Synchronize(Event event) override {
    Count();
    ++log_->synchronized_events;
    const auto happening = events_.at(event);
    while (!happening->has_come && Step()) {
    }
    EXPECT_TRUE(happening->has_come) << "streams await each other";
  }
  void Release(Event event) noexcept override {
    EXPECT_EQ(events_.erase(event), 1u) << "an event was released that there is not";
  }
  void Synchronize() override {
    Count();
    ++log_->synchronized;
    while (Step()) {
    }
    for (const auto& stream : streams_) EXPECT_TRUE(stream.empty()) << "streams await each other";
  }

  void Multiply(const Product& product) override {
    Count();
    for (const Tensor* t : {&product.a, &product.b, &product.c}) CheckBlock(t->data.base);
    Queue(Stream::kCompute, [=] { RunProduct(product); });
  }
  void Launch(const KernelCall& call) override {
    Count();
    ASSERT_EQ(call.arguments.size(), call.types.size());
    for (std::size_t i = 0; i < call.types.size(); ++i) {
      if (call.types[i] != ArgumentType::kAddress || !call.arguments[i].address) continue;
      CheckBlock(call.arguments[i].address);
    }
    const int order = static_cast<int>(random_() % kItems);
    Queue(Stream::kCompute,
          [kernel = call.kernel, groups = call.groups, order,
           arguments = std::vector(call.arguments.begin(), call.arguments.end())] {
            RunKernel(kernel, groups, order, arguments);
          });
  }
  bool MultiplyWithBias(const Product& product, const Tensor& bias, Activation f) override {
    if (options_.libraries == Libraries::kNone || f == Activation::kTanh) return false;
    Count();
    ++log_->products_with_bias;
    Queue(Stream::kCompute, [=] { RunProductWithBias(product, bias, f); });
    return true;
  }
  bool LogSoftmax(const Tensor& x, const Tensor& y) override {
    if (options_.libraries == Libraries::kNone) return false;
    Count();
    ++log_->log_softmaxes;
    Queue(Stream::kCompute, [=] { RunLogSoftmax(x, y); });
    return true;
  }

 private:
  std::deque<Item>& StreamOf(Stream stream) { return streams_[static_cast<std::size_t>(stream)]; }
  void Queue(Stream stream, std::function<void()> work) {
    StreamOf(stream).push_back({.work = std::move(work), .awaited = nullptr});
  }

  // Runs one item of some stream that can go on; false if there is none.
  bool Step() {
    std::vector<std::deque<Item>*> ready;
    for (auto& stream : streams_) {
      if (stream.empty()) continue;
      if (!stream.front().awaited || stream.front().awaited->has_come) ready.push_back(&stream);
    }
    if (ready.empty()) return false;
    auto& stream = *ready[random_() % ready.size()];
    if (stream.front().work) stream.front().work();
    stream.pop_front();
    return true;
  }

  void Count() {
    if (++log_->calls == options_.fail_call) throw DeviceError("host.0: a call failed as asked");
  }
  void CheckBlock(const void* block) const {
    EXPECT_TRUE(blocks_.IsBlock(const_cast<void*>(block))) << "memory of no device is used";
  }
  void CheckTransfer(const void* host, const void* block, std::size_t offset,
                     std::size_t bytes) const {
    CheckBlock(block);
    EXPECT_TRUE(blocks_.Contains(static_cast<const std::byte*>(block) + offset, bytes));
    EXPECT_TRUE(pinned_.Contains(host, bytes)) << "a transfer leaves pinned memory";
  }

  HostDriverOptions options_;
  std::shared_ptr<HostDriverLog> log_;
  DeviceInfo info_;
  std::mt19937 random_;
  Blocks blocks_;
  Blocks pinned_;
  std::unordered_map<Event, std::shared_ptr<Happening>> events_;
  std::array<std::deque<Item>, kStreams> streams_;
};

}  // namespace

std::unique_ptr<Driver> MakeHostDriver(HostDriverOptions options,
                                       std::shared_ptr<HostDriverLog> log) {
  return std::make_unique<HostDriver>(options, std::move(log));
}

}  // namespace hogbatch::gpu
