#include "core/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace hogbatch {

int EditDistance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<int> before(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = from[i - 1] == to[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[to.size()];
}

std::string Nearest(std::string_view typed, std::span<const std::string> words) {
  std::string best;
  // A third of the word may be wrong; more than that, and a suggestion is a guess.
  int best_distance = std::max(1, static_cast<int>(typed.size() + 2) / 3) + 1;
  for (const std::string& word : words) {
    const auto difference = std::abs(std::ssize(typed) - std::ssize(word));
    const bool may_be_near = difference < best_distance;
    int distance = may_be_near ? EditDistance(typed, word) : best_distance;
    // "--schedule" for "--lr-schedule", "--epo" for "--epochs": part of a word is a near miss.
    if (typed.size() >= 3 && word.find(typed) != std::string::npos)
      distance = std::min(distance, 2);
    if (distance < best_distance) {
      best_distance = distance;
      best = word;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view typed, std::span<const std::string> words,
                       std::string_view dashes) {
  const std::string nearest = Nearest(typed, words);
  return nearest.empty() ? "" : fmt::format("; did you mean {}{}?", dashes, nearest);
}

}  // namespace hogbatch
