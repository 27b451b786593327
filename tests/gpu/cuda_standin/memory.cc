#include "tests/gpu/cuda_standin/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>

namespace hogbatch::standin {
namespace {

constexpr std::size_t kReserved = std::size_t{1} << 38;  // addresses of a device, not memory
constexpr std::size_t kAlignment = 256;                  // as cudaMalloc's
constexpr std::align_val_t kHostAlignment{64};
// More would make memory real that only a test of full memory asks for.
constexpr std::size_t kFilled = std::size_t{1} << 22;

std::size_t RoundUp(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// AddressSanitizer sees what runs past the end of an allocation. Without it there are some bytes
// after the end that must stay as they are.
#ifdef HOGBATCH_WITH_ASAN
constexpr std::size_t kGuard = 0;
#else
constexpr std::size_t kGuard = 256;
#endif
constexpr std::byte kGuardByte{0xa5};

std::byte* NewBytes(std::size_t bytes) {
  auto* data =
      static_cast<std::byte*>(::operator new(bytes + kGuard, kHostAlignment, std::nothrow));
  if (data == nullptr) throw Failure{Fault::kNoMemory};
  std::memset(data, 0xff, std::min(bytes, kFilled));
  std::fill_n(data + bytes, kGuard, kGuardByte);
  return data;
}

void DeleteBytes(std::byte* data) { ::operator delete(data, kHostAlignment); }

std::string Hex(std::uintptr_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

std::string Hex(const void* address) { return Hex(reinterpret_cast<std::uintptr_t>(address)); }

}  // namespace

std::string Block::Name() const {
  return std::to_string(bytes) + " bytes at " + Hex(address) +
         (device == kHost ? " of pinned memory" : " of device " + std::to_string(device));
}

bool Block::IsOverrun() const {
  return data && !std::all_of(data + bytes, data + bytes + kGuard,
                              [](std::byte b) { return b == kGuardByte; });
}

Memory::Memory(int devices, std::size_t bytes_per_device, std::uint64_t seed)
    : capacity_(bytes_per_device), random_(seed) {
  for (int d = 0; d < devices; ++d) {
    void* pages =
        mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    const auto begin = reinterpret_cast<std::uintptr_t>(pages);
    regions_.push_back({.begin = begin, .next = begin});
  }
}

Memory::~Memory() {
  for (auto* blocks : {&blocks_, &pinned_}) {
    for (auto& [address, block] : *blocks) DeleteBytes(block->data);
  }
  for (const Region& region : regions_) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    munmap(reinterpret_cast<void*>(region.begin), kReserved);
  }
}

std::uintptr_t Memory::TakeAddress(Region& region, std::size_t bytes) {
  const auto [first, last] = freed_.equal_range(bytes);
  for (auto old = last; old != first && random_() % 2 == 0;) {
    --old;  // the newest of them comes back first, if any does
    const std::uintptr_t address = old->second;
    if (address < region.begin || address >= region.begin + kReserved) continue;
    freed_.erase(old);
    blocks_.erase(address);
    return address;
  }
  const std::uintptr_t address = region.next;
  if (address + bytes + kAlignment > region.begin + kReserved) throw Failure{Fault::kNoMemory};
  region.next += bytes + kAlignment;  // no two blocks touch
  return address;
}

void* Memory::Allocate(int device, std::size_t bytes) {
  Region& region = regions_[device];
  const std::size_t taken = RoundUp(bytes);
  if (taken < bytes || taken > capacity_ - region.used) throw Failure{Fault::kNoMemory};
  std::byte* data = NewBytes(bytes);
  const std::uintptr_t address = TakeAddress(region, taken);
  region.used += taken;
  blocks_[address] = std::make_unique<Block>(
      Block{.device = device, .address = address, .bytes = bytes, .data = data, .uses = {}});
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

void* Memory::AllocatePinned(std::size_t bytes) {
  std::byte* data = NewBytes(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  pinned_[address] = std::make_unique<Block>(
      Block{.device = kHost, .address = address, .bytes = bytes, .data = data, .uses = {}});
  return data;
}

Block& Memory::Holding(const void* address, std::string_view what, Fault fault) {
  auto next = blocks_.upper_bound(reinterpret_cast<std::uintptr_t>(address));
  Block* block = next == blocks_.begin() ? nullptr : std::prev(next)->second.get();
  const std::string at = std::string(what) + " at " + Hex(address);
  // The end of a block is its own: blocks do not touch.
  if (!block || reinterpret_cast<std::uintptr_t>(address) > block->address + block->bytes) {
    throw Misuse{fault, at + " lies in no memory of a device"};
  }
  if (!block->data) throw Misuse{fault, at + " lies in freed " + block->Name()};
  return *block;
}

Block& Memory::Find(const void* address, std::string_view what) {
  Block& block = Holding(address, what, Fault::kValue);
  if (reinterpret_cast<std::uintptr_t>(address) != block.address) {
    throw Misuse{Fault::kValue, std::string(what) + " lies inside of " + block.Name()};
  }
  return block;
}

Block& Memory::FindPinned(const void* address) {
  const auto found = pinned_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == pinned_.end()) {
    throw Misuse{Fault::kValue, Hex(address) + " is no memory of cudaMallocHost"};
  }
  return *found->second;
}

void Memory::Free(Block& block) {
  const bool is_overrun = block.IsOverrun();
  const std::string name = block.Name();
  DeleteBytes(block.data);
  block.data = nullptr;
  if (block.device == kHost) {
    pinned_.erase(block.address);
  } else {
    regions_[block.device].used -= RoundUp(block.bytes);
    freed_.emplace(RoundUp(block.bytes), block.address);
  }
  if (is_overrun) throw Misuse{Fault::kAddress, "something wrote past the end of " + name};
}

Range Memory::Rest(const void* address, int device, std::string_view what) {
  Block& block = Holding(address, what, Fault::kAddress);
  if (block.device != device) {
    throw Misuse{Fault::kAddress, std::string(what) + " lies in " + block.Name() +
                                      ", the work is device " + std::to_string(device) + "'s"};
  }
  const std::size_t begin = reinterpret_cast<std::uintptr_t>(address) - block.address;
  return {&block, begin, block.bytes - begin};
}

Range Memory::At(const void* address, std::size_t bytes, int device, std::string_view what) {
  Range range = Rest(address, device, what);
  if (bytes > range.bytes) {
    throw Misuse{Fault::kAddress, std::string(what) + " reaches " +
                                      std::to_string(bytes - range.bytes) + " bytes past " +
                                      range.block->Name()};
  }
  range.bytes = bytes;
  return range;
}

Range Memory::Pinned(const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto next = pinned_.upper_bound(at);
  Block* block = next == pinned_.begin() ? nullptr : std::prev(next)->second.get();
  if (!block || at >= block->address + block->bytes) {
    throw Misuse{Fault::kValue, "the host's side at " + Hex(address) + " is not pinned"};
  }
  if (bytes > block->address + block->bytes - at) {
    throw Misuse{Fault::kValue, "the host's side reaches past " + block->Name()};
  }
  return {block, at - block->address, bytes};
}

bool Memory::IsDeviceAddress(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::ranges::any_of(regions_, [&](const Region& region) {
    return at >= region.begin && at < region.begin + kReserved;
  });
}

std::vector<std::string> Memory::Leaks() const {
  std::vector<std::string> leaks;
  for (const auto* blocks : {&blocks_, &pinned_}) {
    for (const auto& [address, block] : *blocks) {
      if (block->data) leaks.push_back(block->Name() + " were not freed");
    }
  }
  return leaks;
}

}  // namespace hogbatch::standin
