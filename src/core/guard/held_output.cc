#include "core/guard/held_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <thread>
#include <utility>

#include "core/clock.h"
#include "core/error.h"

namespace hogbatch {
namespace {

constexpr std::size_t kMostHeld = std::size_t{1} << 20;
constexpr int kPollMilliseconds = 100;
constexpr std::chrono::milliseconds kBetweenTries(5);

mode_t KindOf(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

bool TakesMore(int descriptor, int milliseconds) {
  pollfd polled{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&polled, 1, milliseconds) > 0;
}

}  // namespace

HeldOutput::HeldOutput(int descriptor, std::string_view name)
    : descriptor_(descriptor), name_(name) {
  if (KindOf(descriptor) != S_IFIFO && ::isatty(descriptor) == 0) return;
  nonblocking_ = ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(),
                        O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

HeldOutput::~HeldOutput() {
  if (nonblocking_ >= 0) ::close(nonblocking_);
}

void HeldOutput::Post(std::string_view text) {
  if (Drain()) text.remove_prefix(Take(text));
  // The rest of a text that was begun is always held, so that no line is cut.
  if (held_.empty() || held_.size() + text.size() <= kMostHeld) {
    held_ += text;
  } else {
    ++dropped_;
  }
}

bool HeldOutput::Drain() {
  if (!held_.empty()) held_.erase(0, Take(held_));
  if (held_.empty()) HoldDropped();
  return held_.empty();
}

void HeldOutput::HoldDropped() {
  if (dropped_ == 0) return;
  held_ += fmt::format("... {} messages left out, since they were not read ...\n", dropped_);
  dropped_ = 0;
}

void HeldOutput::Write(std::string_view text, const Waits& waits) {
  HoldDropped();
  WriteWaiting(std::exchange(held_, {}), waits);
  WriteWaiting(text, waits);
}

ssize_t HeldOutput::WriteAtOnce(std::string_view text) const {
  if (nonblocking_ >= 0) return ::write(nonblocking_, text.data(), text.size());
  const mode_t kind = KindOf(descriptor_);
  if (kind == S_IFSOCK) {
    return ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (kind == S_IFREG) return ::write(descriptor_, text.data(), text.size());
  if (!TakesMore(descriptor_, 0)) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
}

std::size_t HeldOutput::Take(std::string_view text) const {
  std::size_t taken = 0;
  while (taken < text.size()) {
    const ssize_t written = WriteAtOnce(text.substr(taken));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0 && errno == EPIPE) throw OutputClosed();
    if (written < 0) ThrowErrno("write to", name_);
    taken += static_cast<std::size_t>(written);
  }
  return taken;
}

void HeldOutput::WriteWaiting(std::string_view text, const Waits& waits) const {
  double taken_at = SteadySeconds();
  while (true) {
    const std::size_t taken = Take(text);
    text.remove_prefix(taken);
    if (text.empty()) return;
    const double now = SteadySeconds();
    if (taken > 0) taken_at = now;
    if (!waits(now - taken_at)) throw OutputClosed();
    // A terminal with one byte of room is ready, but takes no line end.
    if (TakesMore(descriptor_, kPollMilliseconds) && taken == 0)
      std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace hogbatch
