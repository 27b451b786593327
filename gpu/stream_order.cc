#include "gpu/stream_order.h"

#include <array>

#include "core/error.h"

namespace hogbatch::gpu {
namespace {

constexpr std::array kAllStreams = {Stream::kCompute, Stream::kUpload, Stream::kDownload};
static_assert(kAllStreams.size() == kStreams);

}  // namespace

StreamOrder::~StreamOrder() { SetAllCompleted(); }

void StreamOrder::Use(Stream stream, void* block) {
  const auto found = blocks_.find(block);
  Check(found != blocks_.end(), "a call names memory that its device did not allocate");
  // A transfer closes the mark of the computations so far, even if it need not wait for them. A
  // later transfer that must wait then waits for these only, not for what is queued in between.
  if (stream != Stream::kCompute) Close(Stream::kCompute);
  for (Stream other : kAllStreams) {
    if (other != stream) Await(stream, other, found->second[other]);
  }
  found->second[stream] = LineOf(stream).open;
  LineOf(stream).has_work = true;
}

void StreamOrder::Await(Stream waiter, Stream other, Mark mark) {
  Mark& awaited = LineOf(waiter).awaited[other];
  if (mark <= awaited || HasCompleted(other, mark)) return;
  if (mark == LineOf(other).open) Close(other);
  driver_.Await(waiter, EventOf(other, mark));
  awaited = mark;
}

StreamOrder::Mark StreamOrder::Close(Stream stream) {
  Line& line = LineOf(stream);
  if (!line.has_work) return line.open - 1;
  line.events.push_back(nullptr);  // first, because it may throw and an event must not leak
  try {
    line.events.back() = driver_.Record(stream);
  } catch (...) {
    line.events.pop_back();
    throw;
  }
  line.has_work = false;
  return line.open++;
}

StreamOrder::Marks StreamOrder::CloseAll() {
  Marks marks;
  for (Stream stream : kAllStreams) marks[stream] = Close(stream);
  return marks;
}

void StreamOrder::WaitFor(const Marks& marks) {
  for (Stream stream : kAllStreams) {
    const Mark mark = marks[stream];
    if (HasCompleted(stream, mark)) continue;
    driver_.Synchronize(EventOf(stream, mark));
    while (!HasCompleted(stream, mark)) {
      // Earlier events have completed, too, but only its own event may report work that failed.
      Line& line = LineOf(stream);
      if (line.completed + 1 < mark) driver_.Synchronize(line.events.front());
      ReleaseFirst(line);
    }
  }
}

void StreamOrder::PollEvents() {
  for (Line& line : lines_) {
    while (!line.events.empty() && driver_.HasCompleted(line.events.front())) ReleaseFirst(line);
  }
}

void StreamOrder::ReleaseFirst(Line& line) noexcept {
  driver_.Release(line.events.front());
  line.events.pop_front();
  ++line.completed;
}

void StreamOrder::SetAllCompleted() noexcept {
  for (Line& line : lines_) {
    for (Event event : line.events) driver_.Release(event);
    line.events.clear();
    if (line.has_work) ++line.open;  // it needs no event now
    line.has_work = false;
    line.completed = line.open - 1;
  }
}

}  // namespace hogbatch::gpu
