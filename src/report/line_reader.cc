#include "report/line_reader.h"

#include <algorithm>

#include "core/error.h"

namespace hogbatch::report {
namespace {

constexpr std::size_t kMostLineBytes = 1 << 20;
constexpr std::size_t kBufferBytes = 1 << 16;

}  // namespace

LineReader::LineReader(const std::string& path)
    : file_(path, std::ios::binary), buffer_(kBufferBytes) {
  if (!file_) ThrowErrno("read", path);
}

bool LineReader::Fill() {
  if (at_ < end_) return true;
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  at_ = 0;
  end_ = file_.gcount();
  return end_ > 0;
}

std::optional<TextLine> LineReader::Next() {
  if (!Fill()) return std::nullopt;
  TextLine line;
  ++number_;
  while (Fill()) {
    const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
    const auto newline = std::find(begin, end, '\n');
    const std::size_t length = newline - begin;
    const std::size_t room = kMostLineBytes - line.text.size();
    line.text.append(begin, begin + static_cast<std::ptrdiff_t>(std::min(length, room)));
    line.too_long = line.too_long || length > room;
    at_ += length;
    if (newline == end) continue;
    ++at_;
    return line;
  }
  line.ended = false;
  return line;
}

}  // namespace hogbatch::report
