#include "gpu/stream_order.h"

#include "core/error.h"

namespace hogbatch::gpu {

StreamOrder::~StreamOrder() { AllHasCome(); }

void StreamOrder::Use(Stream stream, void* block) {
  const auto found = blocks_.find(block);
  Check(found != blocks_.end(), "a call names memory that its device did not allocate");
  // A transfer ends what was computed so far, whether or not it needs to await it: a later transfer
  // that does then awaits that much and not also what is queued in between.
  if (stream != Stream::kCompute) Close(Stream::kCompute);
  for (int i = 0; i < kStreams; ++i) {
    const auto other = static_cast<Stream>(i);
    if (other != stream) Await(stream, other, found->second[Index(other)]);
  }
  found->second[Index(stream)] = LineOf(stream).open;
  LineOf(stream).has_work = true;
}

void StreamOrder::Await(Stream waiter, Stream other, Mark mark) {
  Mark& awaited = LineOf(waiter).awaited[Index(other)];
  if (mark <= awaited || HasCome(other, mark)) return;
  if (mark == LineOf(other).open) Close(other);
  const Line& line = LineOf(other);
  driver_.Await(waiter, line.events[static_cast<std::size_t>(mark - line.come - 1)]);
  awaited = mark;
}

StreamOrder::Mark StreamOrder::Close(Stream stream) {
  Line& line = LineOf(stream);
  if (!line.has_work) return line.open - 1;
  line.events.push_back(nullptr);  // first, because it may throw: an event must not be lost
  try {
    line.events.back() = driver_.Record(stream);
  } catch (...) {
    line.events.pop_back();
    throw;
  }
  line.has_work = false;
  return line.open++;
}

void StreamOrder::Look() {
  for (Line& line : lines_) {
    while (!line.events.empty() && driver_.HasCome(line.events.front())) {
      driver_.Release(line.events.front());
      line.events.pop_front();
      ++line.come;
    }
  }
}

void StreamOrder::AllHasCome() noexcept {
  for (Line& line : lines_) {
    for (Event event : line.events) driver_.Release(event);
    line.events.clear();
    if (line.has_work) ++line.open;  // it needs no event any more
    line.has_work = false;
    line.come = line.open - 1;
  }
}

}  // namespace hogbatch::gpu
