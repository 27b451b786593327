#include "datasets/readers/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "datasets/readers/unpack.h"

namespace hogbatch {
namespace {

std::string_view SkipByteOrderMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

class HeldText : public TextSource {
 public:
  explicit HeldText(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::string_view text() const override {
    return SkipByteOrderMark({bytes_.data(), bytes_.size()});
  }

 private:
  Bytes bytes_;
};

class BorrowedText : public TextSource {
 public:
  explicit BorrowedText(std::string_view text) : text_(text) {}
  std::string_view text() const override { return SkipByteOrderMark(text_); }

 private:
  std::string_view text_;
};

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (value_ < 0) ThrowErrno("open", path);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(value_); }
  int value() const { return value_; }

 private:
  int value_;
};

class MappedText : public TextSource {
 public:
  MappedText(const Descriptor& file, std::size_t size, const std::string& path)
      : size_(size), data_(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0)) {
    if (data_ == MAP_FAILED) ThrowErrno("map", path);
    madvise(data_, size_, MADV_SEQUENTIAL);
  }
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;
  ~MappedText() override { munmap(data_, size_); }
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }
  std::string_view text() const override { return SkipByteOrderMark(bytes()); }

 private:
  std::size_t size_;
  void* data_;
};

// Pipes and the like cannot be mapped.
Bytes ReadAll(const Descriptor& file, const std::string& path, std::size_t max_bytes) {
  Bytes bytes;
  while (true) {
    if (bytes.size() == bytes.capacity()) {
      if (bytes.capacity() >= max_bytes) {
        throw UserError(
            fmt::format("{}: more than {} MB, half of this machine's memory; use a regular file "
                        "instead of a pipe",
                        path, max_bytes >> 20));
      }
      bytes.Grow(std::min(std::max<std::size_t>(1 << 16, bytes.capacity() * 2), max_bytes));
    }
    const ssize_t count =
        read(file.value(), bytes.data() + bytes.size(), bytes.capacity() - bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) ThrowErrno("read", path);
    if (count == 0) return bytes;
    bytes.set_size(bytes.size() + static_cast<std::size_t>(count));
  }
}

[[noreturn]] void ThrowEmpty(const std::string& source) {
  throw UserError(fmt::format("{}: the file is empty; use one with rows of data", source));
}

// Decompressed text, or null if the bytes are plain.
std::unique_ptr<TextSource> Unpack(std::string_view bytes, const std::string& source,
                                   std::size_t max_bytes) {
  if (bytes.empty()) ThrowEmpty(source);
  const Packing packing = FindPacking(bytes, source);
  if (packing == Packing::kNone) return nullptr;
  auto text =
      std::make_unique<HeldText>(packing == Packing::kGzip ? UnpackGzip(bytes, source, max_bytes)
                                                           : UnpackXz(bytes, source, max_bytes));
  if (text->text().empty()) ThrowEmpty(source);
  return text;
}

}  // namespace

std::unique_ptr<TextSource> OpenText(const std::string& path, std::size_t max_bytes) {
  const Descriptor file(path);
  struct stat status{};
  if (fstat(file.value(), &status) != 0) ThrowErrno("open", path);
  if (S_ISDIR(status.st_mode)) {
    throw UserError(fmt::format("{}: is a directory; name a file in it", path));
  }
  if (!S_ISREG(status.st_mode)) {
    Bytes bytes = ReadAll(file, path, max_bytes);
    if (auto unpacked = Unpack({bytes.data(), bytes.size()}, path, max_bytes)) return unpacked;
    return std::make_unique<HeldText>(std::move(bytes));
  }
  if (status.st_size == 0) ThrowEmpty(path);
  auto mapped = std::make_unique<MappedText>(file, static_cast<std::size_t>(status.st_size), path);
  if (auto unpacked = Unpack(mapped->bytes(), path, max_bytes)) return unpacked;
  return mapped;
}

std::unique_ptr<TextSource> OpenBytes(std::string_view bytes, const std::string& source,
                                      std::size_t max_bytes) {
  if (auto unpacked = Unpack(bytes, source, max_bytes)) return unpacked;
  return std::make_unique<BorrowedText>(bytes);
}

std::size_t MemoryBudget() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 32;
  return static_cast<std::size_t>(pages) / 2 * static_cast<std::size_t>(page);
}

}  // namespace hogbatch
