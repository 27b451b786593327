// A driver that does nothing and writes down what it was asked to do.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "gpu/driver.h"

namespace hogbatch::gpu {

class RecordingDriver final : public Driver {
 public:
  // "record upload 1", "compute awaits 1", "host awaits 1", "release 1", "pin 65536", "unpin":
  // events are numbered as they are recorded.
  std::vector<std::string> calls;
  std::set<std::uintptr_t> come;       // events that have come
  std::size_t most_pinned = SIZE_MAX;  // bytes
  std::size_t pinned = 0;

  // What was called since the last time.
  std::vector<std::string> Take() { return std::exchange(calls, {}); }

  const DeviceInfo& info() const override { return info_; }
  void* Allocate(std::size_t bytes) override { return ::operator new(bytes); }
  void Free(void* block) noexcept override { ::operator delete(block); }

  void* AllocatePinned(std::size_t bytes) override {
    if (pinned + bytes > most_pinned) throw OutOfDeviceMemory("there is not so much memory");
    pinned += bytes;
    calls.push_back("pin " + std::to_string(bytes));
    memory_.emplace_back(bytes);
    return memory_.back().data();
  }
  void FreePinned(void* memory) noexcept override {
    for (const auto& chunk : memory_) {
      if (chunk.data() == memory) pinned -= chunk.size();
    }
    calls.push_back("unpin");
  }

  void Upload(const void*, void*, std::size_t, std::size_t) override {}
  void Download(const void*, std::size_t, void*, std::size_t) override {}

  Event Record(Stream stream) override {
    const std::uintptr_t number = ++recorded_;
    streams_[number] = stream;
    calls.push_back("record " + NameOf(stream) + " " + std::to_string(number));
    return reinterpret_cast<Event>(number);
  }
  void Await(Stream waiter, Event event) override {
    calls.push_back(NameOf(waiter) + " awaits " + std::to_string(NumberOf(event)));
  }
  bool HasCompleted(Event event) override { return come.contains(NumberOf(event)); }
  // The event and those of its stream before it have come, and no others.
  void Synchronize(Event event) override {
    calls.push_back("host awaits " + std::to_string(NumberOf(event)));
    for (std::uintptr_t number = 1; number <= NumberOf(event); ++number) {
      if (streams_[number] == streams_[NumberOf(event)]) come.insert(number);
    }
  }
  void Release(Event event) noexcept override {
    calls.push_back("release " + std::to_string(NumberOf(event)));
  }
  void Synchronize() override {}
  void Multiply(const Product&) override {}
  void Launch(const KernelCall&) override {}

 private:
  static std::uintptr_t NumberOf(Event event) { return reinterpret_cast<std::uintptr_t>(event); }
  static std::string NameOf(Stream stream) {
    switch (stream) {
      case Stream::kCompute:
        return "compute";
      case Stream::kUpload:
        return "upload";
      case Stream::kDownload:
        break;
    }
    return "download";
  }

  DeviceInfo info_;
  std::uintptr_t recorded_ = 0;
  std::map<std::uintptr_t, Stream> streams_;  // by event
  std::vector<std::vector<std::byte>> memory_;
};

}  // namespace hogbatch::gpu
