#include "datasets/text/text_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

constexpr int kPatience = 50;  // milliseconds in which a writer goes on with its line
constexpr std::size_t kReadAtOnce = std::size_t{1} << 16;
constexpr std::size_t kLongestRow = std::size_t{64} << 20;

}  // namespace

TextBlocks::TextBlocks(Descriptor pipe, const std::string& source, std::size_t max_bytes)
    : source_(source), longest_row_(std::min(kLongestRow, max_bytes)), pipe_(std::move(pipe)) {
  while (held_.size() < 6 && Fill(kReadAtOnce)) {
  }
  if (held_.empty()) {
    throw UserError(fmt::format("{}: has no rows; write some to it", source_));
  }
  if (FindPacking(held_, source_) == Packing::kNone) {
    held_.erase(0, held_.size() - CheckedBeginning(held_, source_).size());
    return;
  }
  while (Fill(kReadAtOnce)) {
    if (held_.size() > max_bytes) {
      throw UserError(
          fmt::format("{}: more than {} MB of compressed data, the limit; raise it with "
                      "--memory-limit, or decompress it first",
                      source_, max_bytes >> 20));
    }
  }
  const std::string packed = std::exchange(held_, {});
  text_ = OpenBytes(packed, source_, max_bytes);  // decompressed, so it refers to nothing
  pipe_.reset();
}

TextBlocks::TextBlocks(std::unique_ptr<TextSource> text, const std::string& source,
                       std::size_t max_bytes)
    : source_(source), longest_row_(std::min(kLongestRow, max_bytes)), text_(std::move(text)) {}

bool TextBlocks::Fill(std::size_t bytes) {
  const std::size_t before = held_.size();
  if (text_) {
    Bytes window;
    held_ += text_->Read(at_, bytes, window);
    at_ += held_.size() - before;
  } else {
    held_.resize(before + bytes);
    const PipePosition position =
        before == 0 && line_ == 1 ? PipePosition::kBeginOfPipe : PipePosition::kLater;
    const std::size_t count = ReadSome(*pipe_, source_, std::span(held_).subspan(before), position);
    held_.resize(before + count);
  }
  return held_.size() > before;
}

std::string_view TextBlocks::Head() {
  while (held_.size() < kReadAtOnce && !(pipe_ && !AwaitBytes(*pipe_, kPatience))) {
    if (!Fill(kReadAtOnce)) break;
  }
  return held_;
}

void TextBlocks::FindLineEnds() {
  if (!joins_quoted_lines_) {
    const std::size_t last = std::string_view(held_).substr(seen_).rfind('\n');
    if (last != std::string_view::npos) whole_ = seen_ + last + 1;
    seen_ = held_.size();
  }
  for (; seen_ < held_.size(); ++seen_) {
    if (held_[seen_] == '"') is_open_ = !is_open_;
    if (held_[seen_] == '\n' && !is_open_) whole_ = seen_ + 1;
  }
}

TextBlock TextBlocks::Take(std::size_t bytes) {
  TextBlock block{.text = held_.substr(0, bytes), .first_line = line_};
  held_.erase(0, bytes);
  line_ += std::ranges::count(block.text, '\n');
  seen_ -= std::min(seen_, bytes);
  whole_ = 0;
  return block;
}

void TextBlocks::FailTooLong() const {
  throw UserError(fmt::format("{}:{}: the row is longer than {} MB; {}", source_, line_,
                              longest_row_ >> 20,
                              is_open_ ? "close its quotation mark" : "write one row per line"));
}

std::optional<TextBlock> TextBlocks::Next(std::size_t bytes) {
  while (true) {
    const bool waits = pipe_ && !AwaitBytes(*pipe_, kPatience);
    if (held_.size() >= bytes || waits) {
      FindLineEnds();
      if (whole_ > 0) return Take(whole_);
      if (held_.size() > longest_row_) FailTooLong();
    }
    if (Fill(pipe_ ? kReadAtOnce : bytes)) continue;
    if (held_.empty()) return std::nullopt;
    if (held_.find('\n') == std::string::npos) std::ranges::replace(held_, '\r', '\n');
    if (held_.back() != '\n') held_ += '\n';
    return Take(held_.size());
  }
}

}  // namespace hogbatch
