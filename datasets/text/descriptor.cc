#include "datasets/text/descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"

namespace hogbatch {
namespace {

struct stat StatusOf(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (fstat(file.value(), &status) != 0) ThrowErrno("open", path);
  return status;
}

int Open(const std::string& path) {
  if (path == kStandardInput) return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

}  // namespace

std::string SourceName(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

Descriptor::Descriptor(const std::string& path) : value_(Open(path)) {
  if (value_ < 0) ThrowErrno("open", SourceName(path));
}

Descriptor::~Descriptor() {
  if (value_ >= 0) close(value_);
}

FileKind KindOf(const Descriptor& file, const std::string& path) {
  const struct stat status = StatusOf(file, path);
  if (S_ISDIR(status.st_mode)) {
    throw UserError(fmt::format("{}: is a directory; name a file in it", path));
  }
  if (S_ISREG(status.st_mode)) return FileKind::kRegular;
  const bool is_stream = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  if (is_stream || isatty(file.value()) != 0) return FileKind::kPipe;
  throw UserError(fmt::format("{}: is a device, which may never end; name a file", path));
}

std::size_t SizeOf(const Descriptor& file, const std::string& path) {
  return StatusOf(file, path).st_size;
}

bool AwaitBytes(const Descriptor& file, int milliseconds) {
  pollfd waited{.fd = file.value(), .events = POLLIN, .revents = 0};
  return poll(&waited, 1, milliseconds) != 0;
}

std::size_t ReadSome(const Descriptor& file, const std::string& path, std::span<char> to,
                     PipePosition position) {
  constexpr int kMilliseconds = 1000;
  for (bool in_time = true;;) {
    const ssize_t count = read(file.value(), to.data(), to.size());
    if (count > 0) return count;
    if (count == 0) {
      if (position == PipePosition::kLater) return 0;
      if (!in_time) {
        throw UserError(fmt::format(
            "{}: is a pipe that no program writes to; start the writer first, or name a file",
            path));
      }
      in_time = AwaitBytes(file, kMilliseconds);
      if (in_time) position = PipePosition::kLater;
    } else if (errno == EAGAIN) {
      AwaitBytes(file, -1);
    } else if (errno != EINTR) {
      ThrowErrno("read", path);
    }
  }
}

}  // namespace hogbatch
