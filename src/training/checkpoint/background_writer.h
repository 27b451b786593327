// One thread that writes files while training goes on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace hogbatch {

class BackgroundWriter {
 public:
  BackgroundWriter();
  // Finishes what was posted.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Jobs run one after the other. An exception of a job is kept for TakeError.
  void Post(std::function<void()> job);
  bool busy() const;
  // Until all jobs are done.
  void Wait();
  // What went wrong since the last call: the latest sentence.
  std::optional<std::string> TakeError();

 private:
  void Run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // the first is under way
  std::optional<std::string> error_;
  bool closing_ = false;
  std::jthread thread_;
};

}  // namespace hogbatch
