// Text for a reader that may be slow or stuck: a pager, a collector of logs, a terminal that was
// stopped with Ctrl-S.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hogbatch {

// The reader of an output is gone (`| head`), or is no longer waited for.
class OutputClosed {};

// All functions throw OutputClosed, or Error for a full disk.
class HeldOutput {
 public:
  // The descriptor stays the caller's. `name` is for the message of an Error.
  HeldOutput(int descriptor, std::string_view name);
  ~HeldOutput();
  HeldOutput(const HeldOutput&) = delete;
  HeldOutput& operator=(const HeldOutput&) = delete;

  // Does not wait for the reader, unless it is a terminal that cannot be opened again (after su).
  // What it does not take at once is held, and written before anything later. When 1 MB is held,
  // further text is dropped until the reader has gone on, which then reads how many were dropped.
  void Post(std::string_view text);
  // Writes what the reader takes at once. False: it has not taken all that is held.
  bool Drain();
  // Whether to go on waiting for a reader that has taken nothing for this many seconds.
  using Waits = std::function<bool(double seconds)>;
  // Waits until the reader has taken all that is held, and then all of `text`.
  void Write(std::string_view text, const Waits& waits);

 private:
  // As ::write, but without waiting: then it fails with EAGAIN.
  ssize_t WriteAtOnce(std::string_view text) const;
  // Returns how many bytes the reader took.
  std::size_t Take(std::string_view text) const;
  void WriteWaiting(std::string_view text, const Waits& waits) const;
  void HoldDropped();

  int descriptor_;
  std::string name_;
  // The same pipe or terminal opened once more, for writing without waiting. To set that on the
  // descriptor itself would set it for other programs, such as the shell. -1: it is neither, or
  // cannot be opened.
  int nonblocking_ = -1;
  std::string held_;
  std::int64_t dropped_ = 0;  // texts since the reader last took all
};

}  // namespace hogbatch
