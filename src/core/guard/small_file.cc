#include "core/guard/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace hogbatch {
namespace {

std::optional<std::string> ReadAll(int descriptor, std::size_t max_bytes) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const std::size_t expected = status.st_size;
  if (expected > max_bytes) return std::nullopt;  // it may be sparse, and of any size
  // The files of the kernel say that they are empty, and others may grow: read to the end.
  std::string content(expected + 1, '\0');
  std::size_t size = 0;
  while (true) {
    if (size > max_bytes || content.size() > max_bytes + 1) return std::nullopt;
    if (size == content.size()) content.resize(std::min(2 * size + 4096, max_bytes + 1));
    const ssize_t count = ::read(descriptor, content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    size += count;
  }
  content.resize(size);
  return content;
}

}  // namespace

std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes) {
  // Opening a pipe must not wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> content = ReadAll(descriptor, max_bytes);
  ::close(descriptor);
  return content;
}

}  // namespace hogbatch
