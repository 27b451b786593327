#include "datasets/readers/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/guard/machine_limits.h"

namespace hogbatch {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view SkipByteOrderMark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

class BorrowedText : public TextSource {
 public:
  explicit BorrowedText(std::string_view text) : text_(SkipByteOrderMark(text)) {}
  std::size_t size() const override { return text_.size(); }
  std::string_view Read(std::size_t begin, std::size_t count, Bytes&) const override {
    return text_.substr(std::min(begin, text_.size()), count);
  }

 private:
  std::string_view text_;
};

class HeldText : public TextSource {
 public:
  explicit HeldText(Bytes bytes)
      : bytes_(std::move(bytes)), text_(std::string_view(bytes_.data(), bytes_.size())) {}
  std::size_t size() const override { return text_.size(); }
  std::string_view Read(std::size_t begin, std::size_t count, Bytes& window) const override {
    return text_.Read(begin, count, window);
  }

 private:
  Bytes bytes_;
  BorrowedText text_;
};

class Descriptor {
 public:
  // Does not wait for the writer of a pipe.
  explicit Descriptor(const std::string& path)
      : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (value_ < 0) ThrowErrno("open", path);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int value() const { return value_; }

 private:
  int value_;
};

// A file that another program may cut short at any time: mapped memory would end the process then.
class FileText : public TextSource {
 public:
  FileText(Descriptor file, std::size_t size, const std::string& path)
      : file_(std::move(file)), path_(path), file_size_(size) {
    posix_fadvise(file_.value(), 0, 0, POSIX_FADV_SEQUENTIAL);
    Bytes window;
    if (Pread(0, std::min(size, kByteOrderMark.size()), window) == kByteOrderMark) {
      begin_ = kByteOrderMark.size();
    }
  }
  std::size_t size() const override { return file_size_ - begin_; }
  std::string_view Read(std::size_t begin, std::size_t count, Bytes& window) const override {
    begin = std::min(begin, size());
    return Pread(begin_ + begin, std::min(count, size() - begin), window);
  }

 private:
  std::string_view Pread(std::size_t begin, std::size_t count, Bytes& window) const {
    if (window.capacity() < count) window.Grow(count);
    for (std::size_t done = 0; done < count;) {
      const ssize_t got = pread(file_.value(), window.data() + done, count - done,
                                static_cast<off_t>(begin + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) ThrowErrno("read", path_);
      if (got == 0) {
        throw UserError(fmt::format(
            "{}: became shorter while it was read: it had {} bytes, and ends before byte {} now; "
            "read it again when no other program writes to it",
            path_, file_size_, begin + done + 1));
      }
      done += static_cast<std::size_t>(got);
    }
    return {window.data(), count};
  }

  Descriptor file_;
  std::string path_;
  std::size_t file_size_;
  std::size_t begin_ = 0;  // after a byte-order mark
};

enum class FileKind : std::uint8_t { kRegular, kPipe };  // a terminal is like a pipe

// Waits for bytes, or for the end of what a writer wrote. False if neither comes in time; -1 is for
// ever.
bool AwaitBytes(const Descriptor& file, int milliseconds) {
  pollfd waited{.fd = file.value(), .events = POLLIN, .revents = 0};
  return poll(&waited, 1, milliseconds) != 0;
}

// One read, which waits for bytes; 0 at the end. A pipe that no program has opened for writing
// reads as if it had ended: a writer that starts at the same time gets a second, and one that is
// there is waited for.
enum class Place : std::uint8_t { kBeginOfPipe, kLater };
std::size_t ReadSome(const Descriptor& file, const std::string& path, std::span<char> to,
                     Place place) {
  constexpr int kMilliseconds = 1000;
  for (bool in_time = true;;) {
    const ssize_t count = read(file.value(), to.data(), to.size());
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0) {
      if (place == Place::kLater) return 0;
      if (!in_time) {
        throw UserError(fmt::format(
            "{}: is a pipe that no program writes to; start the writer first, or name a file",
            path));
      }
      in_time = AwaitBytes(file, kMilliseconds);
      if (in_time) place = Place::kLater;
    } else if (errno == EAGAIN) {
      AwaitBytes(file, -1);
    } else if (errno != EINTR) {
      ThrowErrno("read", path);
    }
  }
}

// All bytes up to the end of a pipe or a file.
Bytes ReadAll(const Descriptor& file, const std::string& path, std::size_t max_bytes,
              FileKind kind) {
  Bytes bytes;
  while (true) {
    if (bytes.size() == bytes.capacity()) {
      if (bytes.capacity() >= max_bytes) {
        throw UserError(fmt::format(
            "{}: more than {} MB, the limit for one data set; raise it with --memory-limit, or use "
            "a plain file, which is not kept in memory",
            path, max_bytes >> 20));
      }
      bytes.Grow(std::min(std::max<std::size_t>(1 << 16, bytes.capacity() * 2), max_bytes));
    }
    const std::span<char> room(bytes.data() + bytes.size(), bytes.capacity() - bytes.size());
    const bool begins = kind == FileKind::kPipe && bytes.size() == 0;
    const std::size_t count =
        ReadSome(file, path, room, begins ? Place::kBeginOfPipe : Place::kLater);
    if (count == 0) return bytes;
    bytes.set_size(bytes.size() + count);
  }
}

[[noreturn]] void ThrowEmpty(const std::string& source) {
  throw UserError(fmt::format("{}: the file is empty; use one with rows of data", source));
}

Bytes UnpackAs(Packing packing, std::string_view bytes, const std::string& source,
               std::size_t max_bytes) {
  switch (packing) {
    case Packing::kGzip:
      return UnpackGzip(bytes, source, max_bytes);
    case Packing::kXz:
      return UnpackXz(bytes, source, max_bytes);
    case Packing::kBzip2:
      return UnpackBzip2(bytes, source, max_bytes);
    case Packing::kZstd:
    case Packing::kNone:
      break;
  }
  return UnpackZstd(bytes, source, max_bytes);
}

// Decompressed text, or null if the bytes are plain.
std::unique_ptr<TextSource> Unpack(std::string_view bytes, const std::string& source,
                                   std::size_t max_bytes) {
  if (bytes.empty()) ThrowEmpty(source);
  const Packing packing = FindPacking(bytes, source);
  if (packing == Packing::kNone) return nullptr;
  auto text = std::make_unique<HeldText>(UnpackAs(packing, bytes, source, max_bytes));
  if (text->size() == 0) ThrowEmpty(source);
  return text;
}

// Enough of a file to know its packing.
std::string FirstBytes(const Descriptor& file, const std::string& path) {
  std::string bytes(16, '\0');
  const ssize_t count = pread(file.value(), bytes.data(), bytes.size(), 0);
  if (count < 0) ThrowErrno("read", path);
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

FileKind KindOf(const Descriptor& file, const struct stat& status, const std::string& path) {
  if (S_ISDIR(status.st_mode)) {
    throw UserError(fmt::format("{}: is a directory; name a file in it", path));
  }
  if (S_ISREG(status.st_mode)) return FileKind::kRegular;
  if (S_ISFIFO(status.st_mode) || isatty(file.value()) != 0) return FileKind::kPipe;
  throw UserError(fmt::format("{}: is a device, which may never end; name a file", path));
}

}  // namespace

std::unique_ptr<TextSource> OpenText(const std::string& path, std::size_t max_bytes) {
  Descriptor file(path);
  struct stat status{};
  if (fstat(file.value(), &status) != 0) ThrowErrno("open", path);
  const FileKind kind = KindOf(file, status, path);
  if (kind == FileKind::kRegular) {
    if (status.st_size == 0) ThrowEmpty(path);
    if (FindPacking(FirstBytes(file, path), path) == Packing::kNone) {
      return std::make_unique<FileText>(std::move(file), static_cast<std::size_t>(status.st_size),
                                        path);
    }
  }
  Bytes bytes = ReadAll(file, path, max_bytes, kind);
  if (auto unpacked = Unpack({bytes.data(), bytes.size()}, path, max_bytes)) return unpacked;
  return std::make_unique<HeldText>(std::move(bytes));
}

std::unique_ptr<TextSource> OpenBytes(std::string_view bytes, const std::string& source,
                                      std::size_t max_bytes) {
  if (auto unpacked = Unpack(bytes, source, max_bytes)) return unpacked;
  return std::make_unique<BorrowedText>(bytes);
}

std::size_t MemoryBudget(std::int64_t asked) {
  return static_cast<std::size_t>(asked > 0 ? asked : UsableMemory() / 2);
}

}  // namespace hogbatch
