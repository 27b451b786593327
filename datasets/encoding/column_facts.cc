#include "datasets/encoding/column_facts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "datasets/readers/written_date.h"
#include "datasets/readers/written_number.h"

namespace hogbatch {
namespace {

// The least and the largest of numbers that are words.
void FindRange(const ColumnSurvey& survey, NumberStyle style, ColumnFacts& facts) {
  bool is_first = survey.numbers == 0;
  for (const auto& [word, count] : survey.different_words) {
    const auto number = ParseWrittenNumber(word, style);
    if (!number) continue;
    facts.min = is_first ? *number : std::min(facts.min, *number);
    facts.max = is_first ? *number : std::max(facts.max, *number);
    is_first = false;
  }
}

void FindRange(const ColumnSurvey& survey, DateOrder order, ColumnFacts& facts) {
  double first = 0, last = 0;
  for (const auto& [word, count] : survey.different_words) {
    const auto date = ParseWrittenDate(word, order);
    if (!date) continue;
    if (facts.earliest.empty() || date->days < first) {
      first = date->days;
      facts.earliest = word;
    }
    if (facts.latest.empty() || date->days > last) {
      last = date->days;
      facts.latest = word;
    }
  }
}

}  // namespace

ColumnFacts FactsOf(const TableColumn& column, const ColumnSurvey& survey) {
  constexpr std::size_t kFrequent = 5;
  ColumnFacts facts{.numbers = survey.numbers,
                    .words = survey.words,
                    .missing = survey.missing,
                    .min = survey.min,
                    .max = survey.max,
                    .different_words = std::ssize(survey.different_words),
                    .frequent = {}};
  std::vector<std::pair<std::int64_t, std::string>> words;
  for (const auto& [word, count] : survey.different_words) words.emplace_back(-count.rows, word);
  const std::size_t kept = std::min(kFrequent, words.size());
  std::ranges::partial_sort(words, words.begin() + static_cast<std::ptrdiff_t>(kept));
  for (std::size_t i = 0; i < kept; ++i)
    facts.frequent.emplace_back(words[i].second, -words[i].first);
  if (column.kind == ColumnKind::kNumber) FindRange(survey, column.style, facts);
  if (column.kind == ColumnKind::kDate) FindRange(survey, column.date_order, facts);
  return facts;
}

}  // namespace hogbatch
