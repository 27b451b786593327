// Which work of one stream must come before which of another.
//
// The work of a stream between two events shares a mark: the number of the event that ends it. A
// block of memory remembers for each stream the mark of the last work there that touched it.
// Whoever touches it next on another stream awaits that event first, unless that stream did so
// before, or the event has come.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "gpu/driver.h"

namespace hogbatch::gpu {

class StreamOrder {
 public:
  using Mark = std::int64_t;  // from 1

  explicit StreamOrder(Driver& driver) : driver_(driver) {}
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  void Add(void* block) { blocks_[block] = {}; }
  void Remove(void* block) noexcept { blocks_.erase(block); }

  // Comes before work that touches the block is queued on the stream.
  void Use(Stream stream, void* block);
  // Ends the present mark with an event and returns it; without work in it, the one before.
  Mark Close(Stream stream);

  // Asks the driver which events have come; HasCome answers from that.
  void Look();
  bool HasCome(Stream stream, Mark mark) const { return mark <= LineOf(stream).come; }
  // To be told after Driver::Synchronize.
  void AllHasCome() noexcept;

 private:
  using Marks = std::array<Mark, kStreams>;

  struct Line {
    Mark open = 1;             // what the next event will end
    bool has_work = false;     // since the last event
    Mark come = 0;             // all up to this one have come
    std::deque<Event> events;  // of the marks from come + 1 to open - 1
    Marks awaited{};           // of the other streams
  };

  static std::size_t Index(Stream stream) { return static_cast<std::size_t>(stream); }
  Line& LineOf(Stream stream) { return lines_[Index(stream)]; }
  const Line& LineOf(Stream stream) const { return lines_[Index(stream)]; }
  void Await(Stream waiter, Stream other, Mark mark);

  Driver& driver_;
  std::array<Line, kStreams> lines_;
  std::unordered_map<void*, Marks> blocks_;  // the last mark of each stream that touched a block
};

}  // namespace hogbatch::gpu
