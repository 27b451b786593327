// A device's memory and its transfers.
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

// Implements the calls of Device with the same names. The destructor waits for all work and gives
// back all memory, even after errors.
class GpuMemory {
 public:
  explicit GpuMemory(Driver& driver) : driver_(driver), order_(driver), staging_(driver, order_) {}
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  void* Allocate(std::size_t bytes);
  // Queued work may still use the block, so it is given back at the next Wait, or when memory is
  // short.
  void Free(void* block) noexcept;
  void Upload(std::span<const std::byte> from, void* block, std::size_t offset);
  void Download(const void* block, std::size_t offset, std::span<std::byte> to);
  void Wait();
  // Pinned memory or, if no more can be pinned, ordinary memory whose transfers pass through
  // staging. Freed memory is given back at the next Wait.
  void* AllocateHost(std::size_t bytes);
  void FreeHost(void* memory) noexcept;
  std::int64_t SetMark();
  // Freed blocks are kept: giving them back may make a driver wait for all work.
  void WaitFor(std::int64_t mark);

  // To be called before queueing work on the compute stream that uses the block. Null: no block.
  void UseToCompute(void* block) {
    if (block) order_.Use(Stream::kCompute, block);
  }

 private:
  // A download into staging memory, to be copied on when it is complete.
  struct Arrival {
    Staging::Chunk* from;
    std::byte* to;
    StreamOrder::Mark at;  // on the download stream
  };

  // Memory of AllocateHost.
  struct HostBlock {
    std::size_t bytes;
    bool is_pinned;
  };
  using HostBlocks = std::map<const std::byte*, HostBlock>;

  bool IsPinned(std::span<const std::byte> memory) const;
  // If there is no room, freed blocks are given back first.
  void* AllocatePinned(std::size_t bytes);
  void GiveBack(HostBlocks& blocks) noexcept;
  void Synchronize();
  // Copies the downloads up to this mark of the download stream, which must have completed.
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
  std::int64_t waited_ = 0;                  // the last mark that was waited for
  std::deque<StreamOrder::Marks> awaiting_;  // of the marks from waited_ + 1 on
};

}  // namespace hogbatch::gpu
