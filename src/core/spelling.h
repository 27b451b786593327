// The nearest right spelling of a mistyped word.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hogbatch {

// Letters to insert, delete, replace or swap with their neighbour to turn one word into the other.
int EditDistance(std::string_view from, std::string_view to);

// The word nearest to `typed`; empty when none is near enough to have been meant.
std::string Nearest(std::string_view typed, std::span<const std::string> words);

// "; did you mean --epochs?" with `dashes` before the word, or nothing.
std::string DidYouMean(std::string_view typed, std::span<const std::string> words,
                       std::string_view dashes = "");

}  // namespace hogbatch
