// Pinned host memory for transfers. A device can copy only from and to pinned memory while the host
// goes on.
#pragma once

#include <cstddef>
#include <limits>
#include <list>
#include <vector>

#include "gpu/stream_order.h"

namespace hogbatch::gpu {

// Chunks have power-of-two sizes. A chunk is reused when its transfer has ended; if none is free, a
// new one is made. Nothing waits.
class Staging {
 public:
  static constexpr std::size_t kSmallest = std::size_t{64} << 10;
  static constexpr std::size_t kLargest = std::size_t{16} << 20;

  class Chunk {
   public:
    std::byte* memory() const { return memory_; }
    std::size_t bytes() const { return bytes_; }  // of the transfer; the chunk may be larger

   private:
    friend class Staging;
    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;
    Stream stream_ = Stream::kUpload;
    StreamOrder::Mark busy_until_ = 0;
  };

  Staging(Driver& driver, StreamOrder& order) : driver_(driver), order_(order) {}
  ~Staging();  // no transfer may be in flight
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Chunks for a transfer, in order. A large transfer is split, so that one chunk travels while the
  // next is filled. The caller owns the chunks until it gives them back. All or none.
  std::vector<Chunk*> Take(std::size_t bytes);
  // The chunk becomes free when the mark has completed.
  void ReturnAt(Chunk& chunk, Stream stream, StreamOrder::Mark mark);
  void Return(Chunk& chunk) { chunk.busy_until_ = 0; }

 private:
  static constexpr auto kHeld = std::numeric_limits<StreamOrder::Mark>::max();

  bool IsFree(const Chunk& chunk) const {
    return order_.HasCompleted(chunk.stream_, chunk.busy_until_);
  }
  Chunk& TakeOne(std::size_t bytes);
  void* AllocatePinned(std::size_t bytes);

  Driver& driver_;
  StreamOrder& order_;
  std::list<Chunk> chunks_;
};

}  // namespace hogbatch::gpu
