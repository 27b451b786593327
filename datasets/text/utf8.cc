#include "datasets/text/utf8.h"

#include <array>

#include "core/guard/printable.h"

namespace hogbatch {
namespace {

// Bytes 0x80 to 0x9f. Those that stand for nothing are control characters, as in Latin-1.
constexpr std::array<unsigned, 32> kWindows = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

// A character below 0x10000 as UTF-8.
void Append(unsigned character, std::string& text) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (character < 0x80) return add(character);
  if (character < 0x800) {
    add(0xc0 | character >> 6);
  } else {
    add(0xe0 | character >> 12);
    add(0x80 | (character >> 6 & 0x3f));
  }
  add(0x80 | (character & 0x3f));
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = Utf8Size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string ToUtf8(std::string_view text) {
  if (IsUtf8(text)) return std::string(text);
  std::string utf8;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    Append(byte >= 0x80 && byte < 0xa0 ? kWindows[byte - 0x80] : byte, utf8);
  }
  return utf8;
}

}  // namespace hogbatch
