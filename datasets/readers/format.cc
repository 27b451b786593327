#include "datasets/readers/format.h"

#include <algorithm>

#include "datasets/readers/numbers.h"

namespace hogbatch {
namespace {

enum class Hint { kLibsvm, kCsv, kNoDelimiter, kNumbersAndCommas };

constexpr std::string_view kBlankLetters = " \t\r";

// Takes the first word off `line`.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlankLetters), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlankLetters));
  line.remove_prefix(word.size());
  return word;
}

// "5:1"; also a malformed one ("-5:1", "5:x"), so that the LIBSVM reader reports where it is.
bool IsFeature(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  if (word.find_first_of(",;\"") != std::string_view::npos) return false;
  if (word[0] == '+' || word[0] == '-') word.remove_prefix(1);
  return word.find_first_not_of("0123456789") == word.find(':') && word[0] != ':';
}

Hint HintOf(std::string_view line) {
  std::string_view rest = line;
  for (std::string_view word = TakeWord(rest); !word.empty(); word = TakeWord(rest)) {
    if (IsFeature(word)) return Hint::kLibsvm;
  }
  rest = line;
  const std::string_view first = TakeWord(rest);
  const bool alone = TakeWord(rest).empty();
  if (alone && first.find_first_not_of("0123456789+-.eE") == std::string_view::npos) {
    return Hint::kNoDelimiter;
  }
  // The labels of a row without features look the same.
  if (alone && first.find_first_not_of("0123456789,") == std::string_view::npos) {
    return Hint::kNumbersAndCommas;
  }
  return Hint::kCsv;
}

}  // namespace

FileFormat DetectFormat(std::string_view text) {
  constexpr int kMostLines = 1000;
  FileFormat likely = FileFormat::kLibsvm;
  for (int i = 0; i < kMostLines && !text.empty(); ++i) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    const std::size_t word = line.find_first_not_of(kBlankLetters);
    if (word == std::string_view::npos || line[word] == '#') continue;
    const Hint hint = HintOf(line);
    if (hint == Hint::kLibsvm) return FileFormat::kLibsvm;
    if (hint == Hint::kCsv) return FileFormat::kCsv;
    if (hint == Hint::kNumbersAndCommas) likely = FileFormat::kCsv;
  }
  return likely;
}

}  // namespace hogbatch
