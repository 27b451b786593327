#include "nn/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "core/error.h"
#include "nn/safetensors_header.h"

namespace hogbatch {
namespace {

// Bytes that can be copied out from any place: a file or memory.
using ReadAt = std::function<void(std::int64_t offset, std::span<std::byte> to)>;

std::int64_t HeaderLength(std::span<const std::byte, 8> bytes, std::int64_t file_bytes,
                          TensorFileKind kind, std::string_view source) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint64_t>(bytes[i]);
  if (length > static_cast<std::uint64_t>(kMaxHeaderBytes)) {
    ThrowDamagedTensors(kind, source,
                        fmt::format("it does not begin as a safetensors file does (is it a {} at "
                                    "all?)",
                                    kind == TensorFileKind::kModel ? "model" : "checkpoint"));
  }
  if (static_cast<std::int64_t>(length) > file_bytes - 8) {
    ThrowDamagedTensors(kind, source,
                        fmt::format("it is cut off: its header claims {} bytes and {} follow",
                                    length, file_bytes - 8));
  }
  return static_cast<std::int64_t>(length);
}

SafeTensors Read(std::int64_t file_bytes, const ReadAt& read_at, TensorFileKind kind,
                 std::string_view source) {
  if (file_bytes < 8) {
    ThrowDamagedTensors(kind, source, fmt::format("it has only {} bytes", file_bytes));
  }
  std::byte prefix[8];
  read_at(0, prefix);
  const std::int64_t header_bytes = HeaderLength(prefix, file_bytes, kind, source);
  std::string text(header_bytes, ' ');
  read_at(8, std::as_writable_bytes(std::span(text)));

  SafeTensorsHeader header =
      ParseSafeTensorsHeader(text, file_bytes - 8 - header_bytes, kind, source);
  SafeTensors result{.metadata = std::move(header.metadata), .tensors = {}};
  for (TensorExtent& extent : header.extents) {
    const std::size_t bytes = extent.end - extent.begin;
    std::vector<float> data(extent.is_float ? bytes / sizeof(float) : 0);
    std::vector<std::int64_t> integers(extent.is_float ? 0 : bytes / sizeof(std::int64_t));
    read_at(8 + header_bytes + extent.begin, extent.is_float
                                                 ? std::as_writable_bytes(std::span(data))
                                                 : std::as_writable_bytes(std::span(integers)));
    if (!std::all_of(data.begin(), data.end(), [](float x) { return std::isfinite(x); })) {
      ThrowDamagedTensors(kind, source,
                          fmt::format("tensor '{}' holds NaN or infinite numbers", extent.name));
    }
    result.tensors.emplace(std::move(extent.name),
                           SafeTensors::Tensor{.shape = std::move(extent.shape),
                                               .data = std::move(data),
                                               .integers = std::move(integers)});
  }
  return result;
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

const SafeTensors::Tensor* SafeTensors::Find(std::string_view name) const {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

SafeTensors ReadSafeTensors(const std::string& path, TensorFileKind kind) {
  // Opening a pipe must not wait for a writer.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status;
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) ThrowErrno("open", path);
  if (!S_ISREG(status.st_mode)) {
    if (kind == TensorFileKind::kCheckpoint) ThrowDamagedTensors(kind, path, "it is not a file");
    throw UserError(fmt::format("{} is not a file: name the model.safetensors itself", path));
  }
  const auto read_at = [&](std::int64_t offset, std::span<std::byte> to) {
    while (!to.empty()) {
      const ssize_t got = ::pread(file.fd, to.data(), to.size(), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) ThrowErrno("read", path);
      if (got == 0) ThrowDamagedTensors(kind, path, "it became shorter while it was read");
      to = to.subspan(got);
      offset += got;
    }
  };
  return Read(status.st_size, read_at, kind, path);
}

SafeTensors ParseSafeTensors(std::span<const std::byte> file, std::string_view source,
                             TensorFileKind kind) {
  const auto read_at = [&](std::int64_t offset, std::span<std::byte> to) {
    const auto from = file.subspan(offset, to.size());
    std::copy(from.begin(), from.end(), to.begin());
  };
  return Read(static_cast<std::int64_t>(file.size()), read_at, kind, source);
}

}  // namespace hogbatch
