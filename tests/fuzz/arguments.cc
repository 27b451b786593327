// A command line, one word per line.
#include <variant>
#include <vector>

#include "cli/options/parse.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  std::string_view text = TextOf(bytes, size);
  std::vector<std::string> words;
  while (!text.empty() && words.size() < 64) {
    words.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return ReadOrRefused([&] {
    const Command command = Parse(words);
    if (const auto* train = std::get_if<TrainOptions>(&command)) Validate(train->spec);
  });
}
