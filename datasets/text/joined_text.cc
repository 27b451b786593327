#include "datasets/text/joined_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hogbatch {
namespace {

// Bytes of a part, with a line end in place of what its file may lack.
std::size_t SizeOf(const TextPart& part) {
  if (part.text->size() <= part.skip_bytes) return 0;
  Bytes window;
  const std::size_t size = part.text->size();
  const bool ends = part.text->Read(size - 1, 1, window) == "\n";
  return size - part.skip_bytes + (ends ? 0 : 1);
}

}  // namespace

JoinedText::JoinedText(std::vector<TextPart> parts) : parts_(std::move(parts)), begins_{0} {
  for (const TextPart& part : parts_) begins_.push_back(begins_.back() + SizeOf(part));
}

std::size_t JoinedText::PartWith(std::size_t at) const {
  const auto next = std::ranges::upper_bound(begins_, at);
  const std::size_t found = next - begins_.begin();
  return std::min(std::max<std::size_t>(found, 1), parts_.size()) - 1;
}

std::string_view JoinedText::Read(std::size_t begin, std::size_t count, Bytes& window) const {
  begin = std::min(begin, size());
  count = std::min(count, size() - begin);
  if (count == 0) return {};
  std::size_t index = PartWith(begin);
  const auto place = [&](std::size_t at) { return parts_[index].skip_bytes + at - begins_[index]; };
  if (begin + count < begins_[index + 1]) {
    return parts_[index].text->Read(place(begin), count, window);
  }
  if (window.capacity() < count) window.Grow(count);
  Bytes piece;
  for (std::size_t done = 0; done < count;) {
    index = PartWith(begin + done);
    const std::size_t wanted = std::min(count - done, begins_[index + 1] - begin - done);
    const std::string_view got = parts_[index].text->Read(place(begin + done), wanted, piece);
    std::memcpy(window.data() + done, got.data(), got.size());
    if (got.size() < wanted) window.data()[done + got.size()] = '\n';
    done += wanted;
  }
  return {window.data(), count};
}

TextOrigin JoinedText::OriginOf(std::size_t at, std::string_view) const {
  const std::size_t index = PartWith(at);
  return {.source = parts_[index].source,
          .begin = begins_[index],
          .first_line = 1 + parts_[index].skip_lines};
}

}  // namespace hogbatch
