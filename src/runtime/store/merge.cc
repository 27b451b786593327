#include "runtime/store/merge.h"

#include <array>

#include "core/words.h"

namespace hogbatch {
namespace {

constexpr std::array<NamedValue<Merge>, 3> kMerges{{
    {"delta", Merge::kDelta},
    {"average", Merge::kAverage},
    {"overwrite", Merge::kOverwrite},
}};

}  // namespace

Merge ParseMerge(std::string_view name) { return ParseWord("merge", name, kMerges); }
std::string_view Name(Merge merge) { return NameOf(merge, kMerges); }
Words MergeWords() { return WordsOf(kMerges); }

}  // namespace hogbatch
