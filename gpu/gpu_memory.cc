#include "gpu/gpu_memory.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/error.h"

namespace hogbatch::gpu {

GpuMemory::~GpuMemory() {
  try {
    Synchronize();
  } catch (const std::exception&) {
    // A device that fails here does no more work, so its memory can be given back.
  }
  GiveBackFreed();
  for (void* block : blocks_) driver_.Free(block);
  GiveBack(freed_host_blocks_);
  GiveBack(host_blocks_);
}

void* GpuMemory::Allocate(std::size_t bytes) {
  freed_.reserve(freed_.size() + blocks_.size() + 1);
  void* block = nullptr;
  try {
    block = driver_.Allocate(std::max<std::size_t>(bytes, 1));
  } catch (const OutOfDeviceMemory&) {
    if (freed_.empty()) throw;
    Synchronize();
    GiveBackFreed();
    block = driver_.Allocate(std::max<std::size_t>(bytes, 1));
  }
  try {
    blocks_.insert(block);
    order_.Add(block);
  } catch (...) {
    blocks_.erase(block);
    driver_.Free(block);
    throw;
  }
  return block;
}

void GpuMemory::Free(void* block) noexcept {
  if (blocks_.erase(block) == 0) return;
  order_.Remove(block);
  freed_.push_back(block);
}

void* GpuMemory::AllocateHost(std::size_t bytes) {
  HostBlocks fresh;  // first, because it may throw and memory must not leak
  const auto place = fresh.emplace(nullptr, HostBlock{.bytes = bytes, .is_pinned = true}).first;
  void* memory = nullptr;
  try {
    memory = AllocatePinned(bytes);
  } catch (const OutOfDeviceMemory&) {
    memory = ::operator new(bytes);
    place->second.is_pinned = false;
  }
  auto node = fresh.extract(place);
  node.key() = static_cast<const std::byte*>(memory);
  host_blocks_.insert(std::move(node));
  return memory;
}

void* GpuMemory::AllocatePinned(std::size_t bytes) {
  try {
    return driver_.AllocatePinned(bytes);
  } catch (const OutOfDeviceMemory&) {
    if (freed_host_blocks_.empty()) throw;
  }
  Wait();
  return driver_.AllocatePinned(bytes);
}

void GpuMemory::FreeHost(void* memory) noexcept {
  const auto found = host_blocks_.find(static_cast<const std::byte*>(memory));
  if (found != host_blocks_.end()) freed_host_blocks_.insert(host_blocks_.extract(found));
}

bool GpuMemory::IsPinned(std::span<const std::byte> memory) const {
  const auto next = host_blocks_.upper_bound(memory.data());
  if (next == host_blocks_.begin()) return false;
  const auto& [begin, block] = *std::prev(next);
  return block.is_pinned && memory.data() + memory.size() <= begin + block.bytes;
}

void GpuMemory::Upload(std::span<const std::byte> from, void* block, std::size_t offset) {
  if (from.empty()) return;
  if (IsPinned(from)) {
    order_.Use(Stream::kUpload, block);
    driver_.Upload(from.data(), block, offset, from.size());
    order_.Close(Stream::kUpload);  // so that waiting for this upload does not include later ones
    return;
  }
  for (Staging::Chunk* chunk : staging_.Take(from.size())) {
    std::memcpy(chunk->memory(), from.data(), chunk->bytes());
    order_.Use(Stream::kUpload, block);
    driver_.Upload(chunk->memory(), block, offset, chunk->bytes());
    staging_.ReturnAt(*chunk, Stream::kUpload, order_.Close(Stream::kUpload));
    from = from.subspan(chunk->bytes());
    offset += chunk->bytes();
  }
}

void GpuMemory::Download(const void* block, std::size_t offset, std::span<std::byte> to) {
  if (to.empty()) return;
  if (IsPinned(to)) {
    order_.Use(Stream::kDownload, const_cast<void*>(block));
    driver_.Download(block, offset, to.data(), to.size());
    order_.Close(Stream::kDownload);
    return;
  }
  for (Staging::Chunk* chunk : staging_.Take(to.size())) {
    order_.Use(Stream::kDownload, const_cast<void*>(block));
    driver_.Download(block, offset, chunk->memory(), chunk->bytes());
    arrivals_.push_back({.from = chunk, .to = to.data(), .at = order_.Close(Stream::kDownload)});
    to = to.subspan(chunk->bytes());
    offset += chunk->bytes();
  }
}

void GpuMemory::Wait() {
  Synchronize();
  Receive(std::numeric_limits<StreamOrder::Mark>::max());
  waited_ += static_cast<std::int64_t>(awaiting_.size());
  awaiting_.clear();
  GiveBackFreed();
  GiveBack(freed_host_blocks_);
}

std::int64_t GpuMemory::SetMark() {
  awaiting_.push_back(order_.CloseAll());
  return waited_ + static_cast<std::int64_t>(awaiting_.size());
}

void GpuMemory::WaitFor(std::int64_t mark) {
  if (mark <= waited_) return;  // a later mark was waited for already, and includes this one
  const auto passed = mark - waited_;
  Check(passed <= static_cast<std::int64_t>(awaiting_.size()), "a mark is waited for that was set");
  const StreamOrder::Marks marks = awaiting_[passed - 1];
  order_.WaitFor(marks);
  Receive(marks[Stream::kDownload]);
  awaiting_.erase(awaiting_.begin(), awaiting_.begin() + passed);
  waited_ = mark;
}

void GpuMemory::Receive(StreamOrder::Mark until) {
  while (!arrivals_.empty() && arrivals_.front().at <= until) {
    const Arrival& arrival = arrivals_.front();
    std::memcpy(arrival.to, arrival.from->memory(), arrival.from->bytes());
    staging_.Return(*arrival.from);
    arrivals_.pop_front();
  }
}

void GpuMemory::Synchronize() {
  driver_.Synchronize();
  order_.PollEvents();  // only its event reports an OpenCL command that failed
  order_.SetAllCompleted();
}

void GpuMemory::GiveBack(HostBlocks& blocks) noexcept {
  for (const auto& [begin, block] : blocks) {
    auto* const memory = const_cast<std::byte*>(begin);
    if (block.is_pinned) {
      driver_.FreePinned(memory);
    } else {
      ::operator delete(memory);
    }
  }
  blocks.clear();
}

void GpuMemory::GiveBackFreed() noexcept {
  for (void* block : freed_) driver_.Free(block);
  freed_.clear();
}

}  // namespace hogbatch::gpu
