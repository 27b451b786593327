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
  using Marks = std::array<Mark, kStreams>;
  static std::size_t Index(Stream stream) { return static_cast<std::size_t>(stream); }

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
  // The same for every stream.
  Marks CloseAll();
  // Blocks until these marks of the streams have come, and for nothing that is queued after them.
  void WaitFor(const Marks& marks);

  // Asks the driver which events have come; HasCome answers from that.
  void Look();
  bool HasCome(Stream stream, Mark mark) const { return mark <= LineOf(stream).come; }
  // To be told after Driver::Synchronize.
  void AllHasCome() noexcept;

 private:
  struct Line {
    Mark open = 1;             // what the next event will end
    bool has_work = false;     // since the last event
    Mark come = 0;             // all up to this one have come
    std::deque<Event> events;  // of the marks from come + 1 to open - 1
    Marks awaited{};           // of the other streams
  };

  Line& LineOf(Stream stream) { return lines_[Index(stream)]; }
  const Line& LineOf(Stream stream) const { return lines_[Index(stream)]; }
  // Of a mark that is closed and, as far as is known, has not come.
  Event EventOf(Stream stream, Mark mark) const {
    return LineOf(stream).events[static_cast<std::size_t>(mark - LineOf(stream).come - 1)];
  }
  void ReleaseFirst(Line& line) noexcept;  // which has come
  void Await(Stream waiter, Stream other, Mark mark);

  Driver& driver_;
  std::array<Line, kStreams> lines_;
  std::unordered_map<void*, Marks> blocks_;  // the last mark of each stream that touched a block
};

}  // namespace hogbatch::gpu
