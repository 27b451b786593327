#include "training/checkpoint/background_writer.h"

#include <exception>
#include <utility>

#include "core/error.h"
#include "core/threads.h"

namespace hogbatch {

namespace {

std::exception_ptr Try(const std::function<void()>& job) {
  try {
    job();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

std::string SentenceOf(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return WhatOf(error);
  }
}

}  // namespace

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
    std::function<void()> job;  // a copy would take memory, which there may be none of
    job.swap(jobs_.front());
    lock.unlock();
    const std::exception_ptr failure = Try(job);
    job = nullptr;
    lock.lock();
    if (failure) error_ = SentenceOf(failure);
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace hogbatch
