#include "datasets/builtin.h"

#include <cstddef>
#include <cstdint>
#include <numeric>

asm(".section .rodata\n"
    ".balign 16\n"
    "hogbatch_covtype_begin:\n"
    ".incbin \"" HOGBATCH_COVTYPE
    "\"\n"
    "hogbatch_covtype_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
extern const char hogbatch_covtype_begin[];
extern const char hogbatch_covtype_end[];
}

namespace hogbatch {
namespace {

std::vector<std::int64_t> OneTo(std::int64_t last) {
  std::vector<std::int64_t> values(last);
  std::iota(values.begin(), values.end(), std::int64_t{1});
  return values;
}

}  // namespace

std::string_view PackedBuiltin() {
  return {hogbatch_covtype_begin,
          static_cast<std::size_t>(hogbatch_covtype_end - hogbatch_covtype_begin)};
}

std::vector<CategoricalColumn> BuiltinCategories() {
  return {{.column = 10, .values = OneTo(4)}, {.column = 11, .values = OneTo(40)}};
}

}  // namespace hogbatch
