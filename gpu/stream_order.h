// Orders work on different streams by the memory it uses.
//
// The work on a stream between two events shares a mark: the number of the event that ends it. A
// block of memory has, for each stream, the mark of the last work there that used it. Before
// another stream uses the block, it waits for that event, unless it has waited already or the event
// has completed.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "core/indexed_vector.h"
#include "gpu/driver.h"

namespace hogbatch::gpu {

class StreamOrder {
 public:
  using Mark = std::int64_t;  // from 1
  using Marks = IndexedArray<Stream, Mark, kStreams>;

  explicit StreamOrder(Driver& driver) : driver_(driver) {}
  ~StreamOrder();
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;

  void Add(void* block) { blocks_[block] = {}; }
  void Remove(void* block) noexcept { blocks_.erase(block); }

  // To be called before work that uses the block is queued on the stream.
  void Use(Stream stream, void* block);
  // Closes the present mark with an event and returns the mark. If it has no work, returns the mark
  // before.
  Mark Close(Stream stream);
  // The same for every stream.
  Marks CloseAll();
  // Blocks until these marks have completed; does not wait for work queued after them.
  void WaitFor(const Marks& marks);

  // Asks the driver which events have completed; HasCompleted answers from that.
  void PollEvents();
  bool HasCompleted(Stream stream, Mark mark) const { return mark <= LineOf(stream).completed; }
  // To be called after Driver::Synchronize.
  void SetAllCompleted() noexcept;

 private:
  struct Line {
    Mark open = 1;             // what the next event will end
    bool has_work = false;     // since the last event
    Mark completed = 0;        // all up to this one have completed
    std::deque<Event> events;  // of the marks from completed + 1 to open - 1
    Marks awaited;             // of the other streams
  };

  Line& LineOf(Stream stream) { return lines_[stream]; }
  const Line& LineOf(Stream stream) const { return lines_[stream]; }
  // The event of a closed mark that is not known to have completed.
  Event EventOf(Stream stream, Mark mark) const {
    return LineOf(stream).events[mark - LineOf(stream).completed - 1];
  }
  void ReleaseFirst(Line& line) noexcept;  // which has completed
  void Await(Stream waiter, Stream other, Mark mark);

  Driver& driver_;
  IndexedArray<Stream, Line, kStreams> lines_;
  std::unordered_map<void*, Marks> blocks_;  // the last mark of each stream that touched a block
};

}  // namespace hogbatch::gpu
