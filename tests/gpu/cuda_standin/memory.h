// The memory of the feigned devices, and pinned memory of the host. A device address lies in pages
// that nobody may touch; what it stands for is a heap allocation of its own, so that
// AddressSanitizer sees a kernel that runs past its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/cuda_standin/misuse.h"

namespace hogbatch::standin {

// A use of a block by work on a stream. The timeline keeps them, to see uses that nothing orders.
struct Use {
  int stream = 0;
  std::uint64_t number = 0;  // of the work on its stream
  bool writes = false;
  std::size_t begin = 0, end = 0;
  std::string what;
};

inline constexpr int kHost = -1;

struct Block {
  int device = kHost;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::byte* data = nullptr;  // null: was freed
  std::vector<Use> uses;      // those the host does not know to be over

  std::string Name() const;
  // Whether something wrote past its end, where AddressSanitizer is not there to see it.
  bool IsOverrun() const;
};

// `bytes` of a block from `begin`, as far as a call may reach.
struct Range {
  Block* block = nullptr;
  std::size_t begin = 0;
  std::size_t bytes = 0;

  std::byte* data() const { return block ? block->data + begin : nullptr; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }
};

class Memory {
 public:
  Memory(int devices, std::size_t bytes_per_device, std::uint64_t seed);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  // Failure if the device is full. Contents are bytes of ones: floats that are no numbers. A freed
  // address may come back, as on a real device, or not, by the seed.
  void* Allocate(int device, std::size_t bytes);
  void* AllocatePinned(std::size_t bytes);
  // The block that begins at the address; Misuse if none does.
  Block& Find(const void* address, std::string_view what);
  Block& FindPinned(const void* address);
  void Free(Block& block);  // Misuse if it was overrun; it is freed then, too

  // What lies at the address: Misuse unless all of it is live memory of that device.
  Range At(const void* address, std::size_t bytes, int device, std::string_view what);
  Range Pinned(const void* address, std::size_t bytes);
  // The same up to the end of its block.
  Range Rest(const void* address, int device, std::string_view what);
  // Whether a device could ever follow it; host code never may.
  bool IsDeviceAddress(const void* address) const;

  std::size_t capacity() const { return capacity_; }
  std::size_t used(int device) const { return regions_[device].used; }
  // What was never freed.
  std::vector<std::string> Leaks() const;

 private:
  struct Region {
    std::uintptr_t begin = 0, next = 0;
    std::size_t used = 0;
  };
  std::uintptr_t TakeAddress(Region& region, std::size_t bytes);
  Block& Holding(const void* address, std::string_view what, Fault fault);

  std::size_t capacity_;
  std::vector<Region> regions_;
  std::map<std::uintptr_t, std::unique_ptr<Block>> blocks_;  // freed ones stay, for the sentence
  std::map<std::uintptr_t, std::unique_ptr<Block>> pinned_;
  std::multimap<std::size_t, std::uintptr_t> freed_;  // by the bytes they take
  std::mt19937_64 random_;
};

}  // namespace hogbatch::standin
