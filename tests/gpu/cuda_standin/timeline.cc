#include "tests/gpu/cuda_standin/timeline.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace hogbatch::standin {

std::uint64_t Clock::operator[](int stream) const {
  return static_cast<std::size_t>(stream) < numbers_.size() ? numbers_[stream] : 0;
}

void Clock::Set(int stream, std::uint64_t number) {
  if (static_cast<std::size_t>(stream) >= numbers_.size()) numbers_.resize(stream + 1);
  numbers_[stream] = number;
}

void Clock::Join(const Clock& other) {
  if (other.numbers_.size() > numbers_.size()) numbers_.resize(other.numbers_.size());
  for (std::size_t s = 0; s < other.numbers_.size(); ++s) {
    numbers_[s] = std::max(numbers_[s], other.numbers_[s]);
  }
}

std::string Timeline::Stream::Name() const {
  return "stream " + std::to_string(number) + " of device " + std::to_string(device);
}

void* Timeline::MakeStream(int device) {
  return streams_.Make({.number = made_streams_++, .device = device});
}

void* Timeline::MakeEvent(int device) { return events_.Make({.device = device}); }

Timeline::Stream& Timeline::Find(const void* stream) {
  // 0, cudaStreamLegacy and cudaStreamPerThread: streams that wait for others unasked.
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) {
    throw Misuse{Fault::kHandle, "work on the default stream orders itself with all other work"};
  }
  return streams_.Get(stream);
}

void Timeline::DestroyStream(const void* stream) {
  Stream& destroyed = Find(stream);
  Drain(destroyed);
  ended_[destroyed.device].Join(destroyed.clock);
  favourite_ = nullptr;
  streams_.Destroy(stream);
}

void Timeline::Queue(const void* stream, Work work) {
  Stream& on = Find(stream);
  on.clock.Join(host_);
  on.clock.Set(on.number, on.clock[on.number] + 1);
  for (const Touch& touch : work.touches) CheckOrder(on, touch, work.what);
  on.queue.push_back({.run = std::move(work.run)});
  if (work.seen) {
    unseen_.push_back({on.number, on.clock[on.number], on.device, std::move(work.seen)});
  }
}

void Timeline::CheckOrder(const Stream& stream, const Touch& touch, const std::string& what) {
  if (!touch.range.block) return;
  std::vector<Use>& uses = touch.range.block->uses;
  std::erase_if(uses, [&](const Use& use) { return use.number <= host_[use.stream]; });
  Use mine{.stream = stream.number,
           .number = stream.clock[stream.number],
           .writes = touch.how == Touch::How::kWrites,
           .begin = touch.range.begin,
           .end = touch.range.begin + touch.range.bytes,
           .what = what + " on " + stream.Name()};
  for (const Use& use : uses) {
    const bool conflict =
        (use.writes || mine.writes) && use.begin < mine.end && mine.begin < use.end;
    if (!conflict || use.number <= stream.clock[use.stream]) continue;
    violations_.push_back(mine.what + (mine.writes ? " writes " : " reads ") +
                          touch.range.block->Name() + ", which " + use.what +
                          (use.writes ? " writes" : " reads") + ", and no event orders the two");
  }
  std::erase_if(uses, [&](const Use& use) {
    return use.stream == mine.stream && use.begin == mine.begin && use.end == mine.end &&
           use.writes == mine.writes;
  });
  uses.push_back(std::move(mine));
}

bool Timeline::Uses(const Block& block) const {
  return std::ranges::any_of(block.uses,
                             [&](const Use& use) { return use.number > host_[use.stream]; });
}

void Timeline::Record(const void* event, const void* stream) {
  Event& recorded = events_.Get(event);
  Stream& on = Find(stream);
  if (recorded.device != on.device) {
    throw Misuse{Fault::kHandle, "an event of device " + std::to_string(recorded.device) +
                                     " is recorded on " + on.Name()};
  }
  on.clock.Join(host_);
  recorded.mark = std::make_shared<Mark>(Mark{.clock = on.clock});
  on.queue.push_back({.run = {}, .records = recorded.mark});
}

void Timeline::Await(const void* stream, const void* event) {
  Stream& on = Find(stream);
  const Event& awaited = events_.Get(event);
  if (!awaited.mark) {
    violations_.push_back(on.Name() +
                          " awaits an event that was never recorded: that orders nothing");
    return;
  }
  on.clock.Join(awaited.mark->clock);
  on.queue.push_back({.run = {}, .records = {}, .awaits = awaited.mark});
}

bool Timeline::HasCompleted(const void* event) {
  const std::shared_ptr<Mark> mark = events_.Get(event).mark;
  if (!mark) return true;  // as cudaEventQuery says of an event never recorded
  for (std::uint64_t steps = random_() % 4; steps > 0 && !mark->has_come; --steps) Step();
  if (mark->has_come) See(mark->clock);
  return mark->has_come;
}

void Timeline::SynchronizeEvent(const void* event) {
  const std::shared_ptr<Mark> mark = events_.Get(event).mark;
  if (!mark) {
    violations_.push_back(
        "the host awaits an event that was never recorded: that waits for nothing");
    return;
  }
  while (!mark->has_come) Step();
  See(mark->clock);
}

void Timeline::Synchronize(const void* stream) {
  const Stream& on = Find(stream);
  Drain(on);
  See(on.clock);
}

void Timeline::SynchronizeDevice(int device) {
  for (const auto& [handle, stream] : streams_.all()) {
    if (stream.device != device) continue;
    Synchronize(reinterpret_cast<const void*>(handle));  // NOLINT(performance-no-int-to-ptr)
  }
  See(ended_[device]);
}

void Timeline::Abandon(int device) {
  for (auto& [handle, stream] : streams_.all()) {
    if (stream.device != device) continue;
    for (const Item& item : stream.queue) {
      if (item.records) item.records->has_come = true;
    }
    stream.queue.clear();
    host_.Join(stream.clock);
  }
  unseen_.remove_if([&](const Unseen& unseen) { return unseen.device == device; });
}

void Timeline::Drain(const Stream& stream) {
  while (!stream.queue.empty()) Step();
}

void Timeline::Step() {
  std::vector<Stream*> ready;
  for (auto& [handle, stream] : streams_.all()) {
    if (stream.IsReady()) ready.push_back(&stream);
  }
  // An event is awaited only after it was recorded, so that something always can go on.
  Check(!ready.empty() || streams_.size() == 0, "the stand-in's streams wait for each other");
  if (ready.empty()) return;
  // Mostly the same as before, so that one stream runs far ahead of another.
  auto next = std::ranges::find(ready, favourite_);
  if (next == ready.end() || random_() % 8 == 0) next = ready.begin() + random_() % ready.size();
  favourite_ = *next;
  RunFirst(**next);
}

void Timeline::RunFirst(Stream& stream) {
  const Item item = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (item.run) item.run();
  if (item.records) item.records->has_come = true;
}

void Timeline::See(const Clock& clock) {
  host_.Join(clock);
  for (auto work = unseen_.begin(); work != unseen_.end();) {
    if (work->number > host_[work->stream]) {
      ++work;
      continue;
    }
    if (std::string wrong = work->seen(); !wrong.empty()) violations_.push_back(std::move(wrong));
    work = unseen_.erase(work);
  }
}

}  // namespace hogbatch::standin
