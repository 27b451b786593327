// A lock-free queue that many threads may send to and one thread receives from.
#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

namespace hogbatch {

template <typename Message>
class Mailbox {
 public:
  void Send(Message message) {
    if (!queue_.enqueue(std::move(message))) throw std::bad_alloc();
  }

  // Waits until there is a message.
  Message Receive() {
    Message message;
    queue_.wait_dequeue(message);
    return message;
  }

  // Does not wait; none if there is no message.
  std::optional<Message> TryReceive() {
    Message message;
    if (!queue_.try_dequeue(message)) return std::nullopt;
    return message;
  }

  // Waits at most `seconds`.
  std::optional<Message> Receive(double seconds) {
    Message message;
    const auto wait = std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
    if (!queue_.wait_dequeue_timed(message, wait)) return std::nullopt;
    return message;
  }

 private:
  struct Traits : moodycamel::ConcurrentQueueDefaultTraits {
    // There is one worker per core: spinning would take the core from the worker that is to send
    // the message.
    static constexpr int MAX_SEMA_SPINS = 100;
  };
  moodycamel::BlockingConcurrentQueue<Message, Traits> queue_;
};

}  // namespace hogbatch
