// Several files as one text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/text/text_source.h"

namespace hogbatch {

struct TextPart {
  std::unique_ptr<TextSource> text;
  std::string source;          // names it in errors
  std::size_t skip_bytes = 0;  // at its beginning, such as a header
  std::size_t skip_lines = 0;  // how many lines those are
};

// The parts one after the other, each with a line end at its end.
class JoinedText final : public TextSource {
 public:
  explicit JoinedText(std::vector<TextPart> parts);

  std::size_t size() const override { return begins_.back(); }
  std::string_view Read(std::size_t begin, std::size_t count, Bytes& window) const override;
  TextOrigin OriginOf(std::size_t at, std::string_view source) const override;

 private:
  std::size_t PartWith(std::size_t at) const;

  std::vector<TextPart> parts_;
  std::vector<std::size_t> begins_;  // of each part in the text, and the size of the text
};

}  // namespace hogbatch
