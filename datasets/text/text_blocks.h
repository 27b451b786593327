// A text in blocks of whole lines, for rows that are used as they arrive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/text/descriptor.h"
#include "datasets/text/text_source.h"

namespace hogbatch {

struct TextBlock {
  std::string text;            // ends with a line end
  std::size_t first_line = 1;  // its number in the file
};

class TextBlocks {
 public:
  // A pipe, read as it is written; `source` names it in errors. Bytes that are compressed are read
  // to their end first: they may take `max_bytes`.
  TextBlocks(Descriptor pipe, const std::string& source, std::size_t max_bytes);
  TextBlocks(std::unique_ptr<TextSource> text, const std::string& source, std::size_t max_bytes);

  // The beginning of the text, or of what has arrived of it.
  std::string_view Head();

  // Lines that a quotation mark is open in belong together.
  // Before the first Next.
  void JoinQuotedLines() { joins_quoted_lines_ = true; }

  // Lines of about `bytes`, or the ones that have arrived if no more do for a moment. None at the
  // end. UserError for a row that is longer than 64 MB or `max_bytes`.
  std::optional<TextBlock> Next(std::size_t bytes);

 private:
  bool Fill(std::size_t bytes);  // false: there is no more
  void FindLineEnds();           // of what came since the last call
  TextBlock Take(std::size_t bytes);
  [[noreturn]] void FailTooLong() const;

  std::string source_;
  std::size_t longest_row_;
  std::optional<Descriptor> pipe_;    // either this,
  std::unique_ptr<TextSource> text_;  // or this
  std::size_t at_ = 0;                // in text_
  std::string held_;                  // read, but in no block yet
  std::size_t line_ = 1;              // its number, at the beginning of held_
  std::size_t seen_ = 0;              // bytes of held_ that FindLineEnds has seen,
  std::size_t whole_ = 0;             // that are whole lines,
  bool is_open_ = false;              // and whether they end within quotation marks
  bool joins_quoted_lines_ = false;
};

}  // namespace hogbatch
