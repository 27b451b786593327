#include "datasets/text/text_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/guard/machine_limits.h"
#include "datasets/text/descriptor.h"

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
  std::size_t held_bytes() const override { return bytes_.size(); }

 private:
  Bytes bytes_;
  BorrowedText text_;
};

// Lines that end with \r, as old spreadsheets write them, end with \n.
class CarriageReturnText : public TextSource {
 public:
  explicit CarriageReturnText(std::unique_ptr<TextSource> text) : text_(std::move(text)) {}
  std::size_t size() const override { return text_->size(); }
  std::string_view Read(std::size_t begin, std::size_t count, Bytes& window) const override {
    Bytes original;
    const std::string_view bytes = text_->Read(begin, count, original);
    if (window.capacity() < bytes.size()) window.Grow(bytes.size());
    std::ranges::replace_copy(bytes, window.data(), '\r', '\n');
    return {window.data(), bytes.size()};
  }
  std::size_t held_bytes() const override { return text_->held_bytes(); }

 private:
  std::unique_ptr<TextSource> text_;
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
      done += got;
    }
    return {window.data(), count};
  }

  Descriptor file_;
  std::string path_;
  std::size_t file_size_;
  std::size_t begin_ = 0;  // after a byte-order mark
};

// All bytes up to the end of a pipe or a file.
Bytes ReadAll(const Descriptor& file, const std::string& path, std::size_t max_bytes,
              FileKind kind) {
  Bytes bytes;
  while (true) {
    if (bytes.size() == bytes.capacity()) {
      if (bytes.capacity() >= max_bytes) {
        throw UserError(fmt::format(
            "{}: more than {} MB, the limit for one data set or what is left of it; raise it with "
            "--memory-limit, or use a plain file, which is not kept in memory",
            path, max_bytes >> 20));
      }
      bytes.Grow(std::min(std::max<std::size_t>(1 << 16, bytes.capacity() * 2), max_bytes));
    }
    const std::span<char> room(bytes.data() + bytes.size(), bytes.capacity() - bytes.size());
    const bool begins = kind == FileKind::kPipe && bytes.size() == 0;
    const std::size_t count =
        ReadSome(file, path, room, begins ? PipePosition::kBeginOfPipe : PipePosition::kLater);
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
  bytes.resize(count);
  return bytes;
}

// UTF-16 has a mark, or letters that alternate with zero bytes; IDX files begin with two of them.
bool IsUtf16(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return true;
  if (bytes.size() < 4) return false;
  const bool low = bytes[0] == 0 && bytes[2] == 0, high = bytes[1] == 0 && bytes[3] == 0;
  return low != high;
}

// Text as the readers want it.
std::unique_ptr<TextSource> WithLineEnds(std::unique_ptr<TextSource> text,
                                         const std::string& source) {
  constexpr std::size_t kLooked = std::size_t{1} << 16;
  Bytes window;
  const std::string_view head = text->Read(0, kLooked, window);
  CheckedBeginning(head, source);
  const auto has = [&](char c) { return head.find(c) != std::string_view::npos; };
  if (has('\0') || has('\n') || !has('\r')) return text;
  return std::make_unique<CarriageReturnText>(std::move(text));
}

}  // namespace

TextOrigin TextSource::OriginOf(std::size_t, std::string_view source) const {
  return {.source = std::string(source)};
}

static std::unique_ptr<TextSource> OpenAsItIs(const std::string& name, std::size_t max_bytes) {
  Descriptor file(name);
  const std::string path = SourceName(name);
  const FileKind kind = KindOf(file, path);
  if (kind == FileKind::kRegular) {
    const std::size_t size = SizeOf(file, path);
    if (size == 0) ThrowEmpty(path);
    if (FindPacking(FirstBytes(file, path), path) == Packing::kNone) {
      return std::make_unique<FileText>(std::move(file), size, path);
    }
  }
  Bytes bytes = ReadAll(file, path, max_bytes, kind);
  if (auto unpacked = Unpack({bytes.data(), bytes.size()}, path, max_bytes)) return unpacked;
  return std::make_unique<HeldText>(std::move(bytes));
}

std::unique_ptr<TextSource> OpenText(const std::string& path, std::size_t max_bytes) {
  return WithLineEnds(OpenAsItIs(path, max_bytes), SourceName(path));
}

std::unique_ptr<TextSource> OpenBytes(std::string_view bytes, const std::string& source,
                                      std::size_t max_bytes) {
  auto text = Unpack(bytes, source, max_bytes);
  if (!text) text = std::make_unique<BorrowedText>(bytes);
  return WithLineEnds(std::move(text), source);
}

std::string_view CheckedBeginning(std::string_view head, const std::string& source) {
  if (!IsUtf16(head)) return SkipByteOrderMark(head);
  throw UserError(fmt::format(
      "{}: is UTF-16 text; convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW", source));
}

std::unique_ptr<TextSource> ViewText(std::string_view text) {
  return std::make_unique<BorrowedText>(text);
}

std::size_t MemoryBudget(std::int64_t asked) {
  return static_cast<std::size_t>(asked > 0 ? asked : UsableMemory() / 2);
}

}  // namespace hogbatch
