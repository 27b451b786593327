// Streams and events. Nothing runs when it is queued: work runs when the host waits, asks or
// destroys, in an order drawn by a seed that only stream order and events constrain. Two uses of
// the same memory that nothing orders are a violation whatever order was drawn.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/cuda_standin/handles.h"
#include "tests/gpu/cuda_standin/memory.h"

namespace hogbatch::standin {

struct Touch {
  enum class How : std::uint8_t { kReads, kWrites };
  Range range;
  How how = How::kReads;
};

struct Work {
  std::string what;  // "cublasSgemm"
  std::vector<Touch> touches;
  std::function<void()> run;
  // Called once when the host can know that the work is done; may be empty. What it returns is a
  // violation if it is not empty.
  std::function<std::string()> seen;
};

// How much of each stream, by its number, comes before something.
class Clock {
 public:
  std::uint64_t operator[](int stream) const;
  void Set(int stream, std::uint64_t number);
  void Join(const Clock& other);

 private:
  std::vector<std::uint64_t> numbers_;
};

class Timeline {
 public:
  explicit Timeline(std::uint64_t seed) : random_(seed) {}

  void* MakeStream(int device);
  void* MakeEvent(int device);
  // Runs what is queued. The host knows of its end no more than before.
  void DestroyStream(const void* stream);
  void DestroyEvent(const void* event) { events_.Destroy(event); }
  // Misuse if there is no such stream; also for the default streams, which are refused.
  int DeviceOf(const void* stream) { return Find(stream).device; }

  void Queue(const void* stream, Work work);
  void Record(const void* event, const void* stream);
  void Await(const void* stream, const void* event);
  // Work may run, or not, before it answers.
  bool HasCompleted(const void* event);
  // Until the event has come; work that nothing orders before it may have run by then, or not.
  void SynchronizeEvent(const void* event);
  void Synchronize(const void* stream);
  void SynchronizeDevice(int device);
  // Drops what is queued on a device that died.
  void Abandon(int device);

  // Whether work that the host has not seen the end of uses the block.
  bool Uses(const Block& block) const;
  std::uint64_t Draw() { return random_(); }

  std::vector<std::string> TakeViolations() { return std::exchange(violations_, {}); }

 private:
  // One cudaEventRecord.
  struct Mark {
    Clock clock;
    bool has_come = false;
  };
  struct Item {
    std::function<void()> run;           // work, or
    std::shared_ptr<Mark> records = {};  // … , or
    std::shared_ptr<const Mark> awaits = {};
  };
  struct Stream {
    int number = 0;
    int device = 0;
    Clock clock = {};  // what comes before the next work
    std::deque<Item> queue = {};

    bool IsReady() const {
      return !queue.empty() && (!queue.front().awaits || queue.front().awaits->has_come);
    }
    std::string Name() const;
  };
  struct Event {
    int device = 0;
    std::shared_ptr<Mark> mark = {};
  };

 public:
  const Handles<Stream>& streams() const { return streams_; }
  const Handles<Event>& events() const { return events_; }

 private:
  struct Unseen {
    int stream = 0;
    std::uint64_t number = 0;
    int device = 0;
    std::function<std::string()> seen;
  };

  Stream& Find(const void* stream);
  void CheckOrder(const Stream& stream, const Touch& touch, const std::string& what);
  void Drain(const Stream& stream);
  // Runs one piece of work that is ready.
  void Step();
  static void RunFirst(Stream& stream);
  // The host learns that all before the clock is done.
  void See(const Clock& clock);

  Handles<Stream> streams_{Kind::kStream, "stream"};
  Handles<Event> events_{Kind::kEvent, "event"};
  int made_streams_ = 0;
  Clock host_;                  // what the host knows to be done
  std::map<int, Clock> ended_;  // by device: all work of streams that were destroyed
  std::list<Unseen> unseen_;
  const Stream* favourite_ = nullptr;
  std::vector<std::string> violations_;
  std::mt19937_64 random_;
};

}  // namespace hogbatch::standin
