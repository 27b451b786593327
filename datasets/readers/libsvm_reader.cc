#include "datasets/readers/libsvm_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

// One pass over the bytes of a chunk. Error messages are made in separate functions, away from the
// hot path.
class LibsvmParser {
 public:
  LibsvmParser(std::string_view text, std::int64_t known_columns, Labels labels, ParsedRows& out)
      : at_(text.data()),
        end_(text.data() + text.size()),
        known_columns_(std::min(known_columns, kLargestIndex)),
        labels_(labels),
        out_(out) {}

  void Run() {
    while (at_ != end_) ParseLine();
  }

 private:
  void ParseLine() {
    const char* line = at_;
    SkipBlanks();
    if (!AtLineEnd()) {
      const bool may_lack_label = at_ != line || labels_ == Labels::kOptional;
      if (!may_lack_label || !AtFeature()) ParseLabels();
      ParseFeatures(line);
    }
    const void* newline = std::memchr(at_, '\n', end_ - at_);
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
  }

  void ParseLabels() {
    while (true) {
      double label = 0;
      const char* after = ParseNumber(at_, end_, label);
      if (after == nullptr || !std::isfinite(label) || !AtLabelEnd(after)) FailLabel();
      out_.labels.push_back(label + 0.0);  // -0 becomes 0
      at_ = after;
      if (at_ == end_ || *at_ != ',') return;
      out_.has_label_list = true;
      ++at_;
    }
  }

  void ParseFeatures(const char* line) {
    auto order = ParsedRows::Order::kAscending;
    std::int64_t last = 0;
    while (true) {
      SkipBlanks();
      if (AtLineEnd()) break;
      const std::int64_t index = ParseIndex();
      out_.Add(static_cast<std::int32_t>(index - 1), ParseValue());
      if (index <= last) order = ParsedRows::Order::kDisordered;
      last = index;
      if (index > out_.file_columns) out_.file_columns = index;
    }
    out_.EndRow(order);
    if (order == ParsedRows::Order::kDisordered) CheckSums(line);
  }

  // Reads "index:". Up to nine digits cannot overflow, so they skip the checks of std::from_chars,
  // which took most of the parsing time. Everything else goes through it.
  std::int64_t ParseIndex() {
    constexpr std::ptrdiff_t kSafeDigits = 9;
    const char* p = at_;
    std::int64_t index = 0;
    for (; p != end_ && IsDigit(*p) && p - at_ < kSafeDigits; ++p) index = index * 10 + (*p - '0');
    if (p == end_ || *p != ':') {
      const std::from_chars_result number = std::from_chars(at_, end_, index);
      p = number.ptr;
      if (number.ec != std::errc() || p == end_ || *p != ':') FailIndex();
    }
    if (index < 1 || index > known_columns_ || p == at_) FailIndex();
    at_ = p + 1;
    return index;
  }

  float ParseValue() {
    // Most values of sets and counts are a single digit.
    if (end_ - at_ > 1 && IsDigit(*at_) && IsBlank(at_[1])) {
      return static_cast<float>(*at_++ - '0');
    }
    float value = 0;
    const char* after = ParseNumber(at_, end_, value);
    if (after == nullptr || !std::isfinite(value) || !AtTokenEnd(after)) {
      throw ParseFailure{at_, DescribeBadNumber(Token(at_))};
    }
    at_ = after;
    return value;
  }

  void CheckSums(const char* line) const {
    const ParsedRow row{.chunk = &out_, .index = out_.rows() - 1};
    for (const float value : row.values()) {
      if (!std::isfinite(value)) {
        throw ParseFailure{line,
                           "values of an index that occurs twice add up to more than a 32-bit "
                           "float holds; scale them"};
      }
    }
  }

  [[noreturn]] void FailLabel() const {
    const std::string_view token = Token(at_);
    if (token.find(':') != std::string_view::npos) {
      throw ParseFailure{at_,
                         "the row starts with a feature; write a label before it, or, in a "
                         "multi-label file, start a row without labels with a space"};
    }
    throw ParseFailure{at_, "label: " + DescribeBadNumber(token.substr(0, token.find(',')))};
  }

  [[noreturn]] void FailIndex() const {
    const std::string_view token = Token(at_);
    const std::size_t colon = token.find(':');
    if (colon == std::string_view::npos) {
      throw ParseFailure{
          at_, fmt::format("expected index:value, found {}; correct or remove it", Quote(token))};
    }
    const std::string_view written = token.substr(0, colon);
    std::int64_t index = 0;
    const std::from_chars_result number =
        std::from_chars(written.data(), written.data() + written.size(), index);
    if (number.ptr != written.data() + written.size() || written.empty()) {
      throw ParseFailure{at_, fmt::format("{} is not a feature index; write a whole number from 1",
                                          Quote(written))};
    }
    if (number.ec == std::errc() && index == 0) {
      throw ParseFailure{at_, "index 0 is not allowed: indices start at 1; add 1 to all of them"};
    }
    if (number.ec == std::errc() && index < 0) {
      throw ParseFailure{at_, fmt::format("index {} is negative; indices start at 1", index)};
    }
    if (number.ec != std::errc() || index > kLargestIndex) {
      throw ParseFailure{at_, fmt::format("index {} is larger than {}; renumber the features",
                                          Quote(written), kLargestIndex)};
    }
    throw ParseFailure{
        at_, fmt::format("feature {}, but the model has only {}; use a file with the features it "
                         "was trained on",
                         index, known_columns_)};
  }

  // Whether the next word is index:value and not a label.
  bool AtFeature() const { return Token(at_).find(':') != std::string_view::npos; }
  bool AtLineEnd() const { return at_ == end_ || *at_ == '\n' || *at_ == '#'; }
  bool AtTokenEnd(const char* p) const {
    return p == end_ || IsBlank(*p) || *p == '\n' || *p == '#';
  }
  bool AtLabelEnd(const char* p) const { return AtTokenEnd(p) || *p == ','; }
  void SkipBlanks() {
    while (at_ != end_ && IsBlank(*at_)) ++at_;
  }
  std::string_view Token(const char* begin) const {
    const char* p = begin;
    while (!AtTokenEnd(p)) ++p;
    return {begin, p};
  }

  const char* at_;
  const char* end_;
  std::int64_t known_columns_;
  Labels labels_;
  ParsedRows& out_;
};

}  // namespace

void ParseLibsvm(std::string_view text, std::int64_t known_columns, Labels labels,
                 ParsedRows& out) {
  // A value takes at least four bytes of text. Reserved pages that are never touched cost nothing.
  out.columns.reserve(text.size() / 4);
  out.values.reserve(text.size() / 4);
  LibsvmParser(text, known_columns, labels, out).Run();
}

const char* FindLibsvmLabel(std::string_view text, std::int64_t row, std::int64_t label) {
  while (true) {
    const std::size_t size = text.find('\n');
    const std::string_view line = text.substr(0, size);
    const std::size_t word = line.find_first_not_of(" \t\r");
    if (word != std::string_view::npos && line[word] != '#' && row-- == 0) {
      std::size_t at = word;
      for (; label > 0; --label) at = line.find(',', at) + 1;
      return line.data() + at;
    }
    if (size == std::string_view::npos) return line.data();  // the file has changed meanwhile
    text.remove_prefix(size + 1);
  }
}

}  // namespace hogbatch
