#include "gpu/gpu_memory.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace hogbatch::gpu {

GpuMemory::~GpuMemory() {
  try {
    Synchronize();
  } catch (const std::exception&) {
    // A device that fails even in this does not work on: its memory is given back as it is.
  }
  GiveBackFreed();
  for (void* block : blocks_) driver_.Free(block);
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

void GpuMemory::Upload(std::span<const std::byte> from, void* block, std::size_t offset) {
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
  for (Staging::Chunk* chunk : staging_.Take(to.size())) {
    order_.Use(Stream::kDownload, const_cast<void*>(block));
    driver_.Download(block, offset, chunk->memory(), chunk->bytes());
    order_.Close(Stream::kDownload);
    arrivals_.push_back({.from = chunk, .to = to.data()});
    to = to.subspan(chunk->bytes());
    offset += chunk->bytes();
  }
}

void GpuMemory::Wait() {
  Synchronize();
  for (const Arrival& arrival : arrivals_) {
    std::memcpy(arrival.to, arrival.from->memory(), arrival.from->bytes());
    staging_.Return(*arrival.from);
  }
  arrivals_.clear();
  GiveBackFreed();
}

void GpuMemory::Synchronize() {
  driver_.Synchronize();
  order_.Look();  // an OpenCL command that failed on the way is told by its event alone
  order_.AllHasCome();
}

void GpuMemory::GiveBackFreed() noexcept {
  for (void* block : freed_) driver_.Free(block);
  freed_.clear();
}

}  // namespace hogbatch::gpu
