// Lines of a text file of any size, in little memory.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace hogbatch::report {

struct TextLine {
  std::string text;       // without its end; cut short if too_long
  bool ended = true;      // false: the file ends before the line does
  bool too_long = false;  // longer than a megabyte
};

class LineReader {
 public:
  // Throws Error if the file cannot be opened.
  explicit LineReader(const std::string& path);

  // None at the end of the file, or where it can be read no further.
  std::optional<TextLine> Next();
  // Of the latest line, from 1.
  std::int64_t number() const { return number_; }

 private:
  bool Fill();

  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace hogbatch::report
