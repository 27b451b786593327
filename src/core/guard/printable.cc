#include "core/guard/printable.h"

#include <algorithm>
#include <cstddef>

namespace hogbatch {
namespace {

// Whether `second` is legal after `first` in UTF-8. Others would encode a character in more bytes
// than it needs, or one that does not exist.
bool MayFollow(unsigned char first, unsigned char second) {
  const unsigned char least = first == 0xe0 ? 0xa0 : (first == 0xf0 ? 0x90 : 0x80);
  const unsigned char most = first == 0xed ? 0x9f : (first == 0xf4 ? 0x8f : 0xbf);
  return second >= least && second <= most;
}

// Bytes of the UTF-8 character at the front; 0 when there is none that can be printed.
std::size_t CharacterSize(std::string_view text) {
  const std::size_t size = Utf8Size(text);
  const auto first = static_cast<unsigned char>(text[0]);
  if (size == 1) return first >= ' ' && first != 0x7f ? 1 : 0;
  const bool is_control = size == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
  return is_control ? 0 : size;
}

}  // namespace

std::size_t Utf8Size(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  if (!MayFollow(first, static_cast<unsigned char>(text[1]))) return 0;
  const std::string_view rest = text.substr(2, size - 2);
  const bool whole = std::all_of(rest.begin(), rest.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
  });
  return whole ? size : 0;
}

std::string Printable(std::string_view text, std::string_view kept) {
  std::string printable;
  for (std::size_t at = 0; at < text.size();) {
    const bool stays = kept.find(text[at]) != std::string_view::npos;
    const std::size_t size = stays ? 1 : CharacterSize(text.substr(at));
    printable += size == 0 ? "?" : text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return printable;
}

std::string_view FirstCharacters(std::string_view text, std::size_t most) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < most && bytes < text.size(); ++i) {
    bytes += std::max<std::size_t>(Utf8Size(text.substr(bytes)), 1);
  }
  return text.substr(0, bytes);
}

std::size_t CountCharacters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    text.remove_prefix(std::max<std::size_t>(Utf8Size(text), 1));
  }
  return count;
}

}  // namespace hogbatch
