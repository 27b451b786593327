#include <algorithm>

#include "datasets/encoding/labels.h"
#include "datasets/readers/written_number.h"

namespace hogbatch {

std::optional<NumberStyle> StyleOfLabels(const ParsedFile& file) {
  bool has_words = false;
  for (const ParsedRows& chunk : file.chunks()) has_words |= !chunk.words.empty();
  if (!has_words) return std::nullopt;
  for (const NumberStyle style : {NumberStyle::kPoint, NumberStyle::kComma}) {
    const bool reads_all = std::ranges::all_of(file.chunks(), [&](const ParsedRows& chunk) {
      return std::ranges::all_of(chunk.words, [&](const std::string& word) {
        return ParseWrittenNumber(word, style).has_value();
      });
    });
    if (reads_all) return style;
  }
  return std::nullopt;
}

void ReadWrittenLabels(ParsedFile& file, NumberStyle style) {
  for (ParsedRows& chunk : file.chunks()) {
    bool has_words = false;
    for (std::size_t i = 0; i < chunk.label_words.size(); ++i) {
      if (chunk.label_words[i] < 0) continue;
      const auto number = ParseWrittenNumber(chunk.words[chunk.label_words[i]], style);
      if (number) {
        chunk.labels[i] = *number + 0.0;  // -0 becomes 0
        chunk.label_words[i] = -1;
      } else {
        has_words = true;
      }
    }
    if (has_words) continue;
    chunk.label_words.clear();
    chunk.words.clear();
  }
}

}  // namespace hogbatch
