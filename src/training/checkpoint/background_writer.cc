#include "training/checkpoint/background_writer.h"

#include <exception>
#include <utility>

#include "core/threads.h"

namespace hogbatch {

BackgroundWriter::BackgroundWriter() : thread_(StartThread([this] { Run(); })) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::Post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

bool BackgroundWriter::busy() const {
  const std::lock_guard lock(mutex_);
  return !jobs_.empty();
}

void BackgroundWriter::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
}

std::optional<std::string> BackgroundWriter::TakeError() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, std::nullopt);
}

void BackgroundWriter::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = jobs_.front();
    lock.unlock();
    std::optional<std::string> error;
    try {
      job();
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    lock.lock();
    if (error) error_ = error;
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace hogbatch
