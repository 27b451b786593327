// Words the user chooses from: one table a choice serves parsing, printing and the error.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/options.h"

namespace hogbatch {

template <typename T>
struct NamedValue {
  std::string_view name;
  T value;
};

// "unknown WHAT 'WORD': choose one of a, b, c".
[[noreturn]] void ThrowUnknownWord(std::string_view what, std::string_view word,
                                   const std::vector<std::string>& choices);

template <typename T, std::size_t N>
Words WordsOf(const std::array<NamedValue<T>, N>& table) {
  Words words;
  for (const auto& entry : table) words.words.emplace_back(entry.name);
  return words;
}

// "auto" before the others; `also` as in Words.
inline Words WithAuto(Words words, std::string also = {}) {
  words.words.insert(words.words.begin(), "auto");
  words.also = std::move(also);
  return words;
}

template <typename T, std::size_t N>
std::optional<T> FindWord(std::string_view word, const std::array<NamedValue<T>, N>& table) {
  for (const auto& entry : table) {
    if (entry.name == word) return entry.value;
  }
  return std::nullopt;
}

template <typename T, std::size_t N>
T ParseWord(std::string_view what, std::string_view word,
            const std::array<NamedValue<T>, N>& table) {
  if (const std::optional<T> found = FindWord(word, table)) return *found;
  ThrowUnknownWord(what, word, WordsOf(table).words);
}

template <typename T, std::size_t N>
std::string_view NameOf(T value, const std::array<NamedValue<T>, N>& table) {
  for (const auto& entry : table) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

}  // namespace hogbatch
