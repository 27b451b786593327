// A device's memory and what travels to and from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "gpu/staging.h"

namespace hogbatch::gpu {

// The calls of Device of the same names. When it is destroyed, all the device's work is done and
// all its memory given back, whatever went wrong before.
class GpuMemory {
 public:
  explicit GpuMemory(Driver& driver) : driver_(driver), order_(driver), staging_(driver, order_) {}
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  void* Allocate(std::size_t bytes);
  // Work under way may still use the block: it is given back at the next Wait, or when memory is
  // short.
  void Free(void* block) noexcept;
  void Upload(std::span<const std::byte> from, void* block, std::size_t offset);
  void Download(const void* block, std::size_t offset, std::span<std::byte> to);
  void Wait();
  // Pinned; ordinary memory, with a detour through staging, if no more can be pinned. What was
  // freed is given back at the next Wait.
  void* AllocateHost(std::size_t bytes);
  void FreeHost(void* memory) noexcept;
  std::int64_t SetMark();
  // Blocks of memory that were freed stay: a driver may wait for all work to give them back.
  void WaitFor(std::int64_t mark);

  // Comes before work on the compute stream that touches the block; null is no block.
  void UseToCompute(void* block) {
    if (block) order_.Use(Stream::kCompute, block);
  }

 private:
  // Downloaded into staging memory, and to be copied from there when it has arrived.
  struct Arrival {
    Staging::Chunk* from;
    std::byte* to;
    StreamOrder::Mark at;  // on the download stream
  };

  // Of AllocateHost.
  struct HostBlock {
    std::size_t bytes;
    bool is_pinned;
  };
  using HostBlocks = std::map<const std::byte*, HostBlock>;

  bool IsPinned(std::span<const std::byte> memory) const;
  // What was freed makes room if there is none.
  void* AllocatePinned(std::size_t bytes);
  void GiveBack(HostBlocks& blocks) noexcept;
  void Synchronize();
  // Copies what was queued up to this mark of the download stream, which has come.
  void Receive(StreamOrder::Mark until);
  void GiveBackFreed() noexcept;

  Driver& driver_;
  StreamOrder order_;
  Staging staging_;
  std::unordered_set<void*> blocks_;
  std::vector<void*> freed_;  // has room for every block, since Free must not throw
  HostBlocks host_blocks_;
  HostBlocks freed_host_blocks_;
  std::deque<Arrival> arrivals_;             // as they were queued
  std::int64_t waited_ = 0;                  // the last mark that was waited for, in whatever way
  std::deque<StreamOrder::Marks> awaiting_;  // what the marks from waited_ + 1 on stand for
};

}  // namespace hogbatch::gpu
