#include "gpu/staging.h"

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace hogbatch::gpu {

Staging::~Staging() {
  for (const Chunk& chunk : chunks_) driver_.FreePinned(chunk.memory_);
}

std::vector<Staging::Chunk*> Staging::Take(std::size_t bytes) {
  order_.PollEvents();
  std::vector<Chunk*> pieces;
  pieces.reserve((bytes + kLargest - 1) / kLargest);
  try {
    for (std::size_t at = 0; at < bytes; at += kLargest) {
      pieces.push_back(&TakeOne(std::min(kLargest, bytes - at)));
    }
  } catch (...) {
    for (Chunk* chunk : pieces) Return(*chunk);
    throw;
  }
  return pieces;
}

Staging::Chunk& Staging::TakeOne(std::size_t bytes) {
  const std::size_t size = std::bit_ceil(std::max(bytes, kSmallest));
  auto chunk = std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk& candidate) {
    return candidate.size_ == size && IsFree(candidate);
  });
  if (chunk == chunks_.end()) {
    std::list<Chunk> fresh(1);  // before the memory, which must not leak
    fresh.front().memory_ = static_cast<std::byte*>(AllocatePinned(size));
    fresh.front().size_ = size;
    chunk = fresh.begin();
    chunks_.splice(chunks_.end(), fresh);
  }
  chunk->bytes_ = bytes;
  chunk->busy_until_ = kHeld;
  return *chunk;
}

void Staging::ReturnAt(Chunk& chunk, Stream stream, StreamOrder::Mark mark) {
  chunk.stream_ = stream;
  chunk.busy_until_ = mark;
}

// If there is no room, free chunks of other sizes are given back.
void* Staging::AllocatePinned(std::size_t bytes) {
  try {
    return driver_.AllocatePinned(bytes);
  } catch (const OutOfDeviceMemory&) {
    const auto freed = std::erase_if(chunks_, [&](const Chunk& chunk) {
      if (!IsFree(chunk)) return false;
      driver_.FreePinned(chunk.memory_);
      return true;
    });
    if (freed == 0) throw;
  }
  return driver_.AllocatePinned(bytes);
}

}  // namespace hogbatch::gpu
