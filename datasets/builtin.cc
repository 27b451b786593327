#include "datasets/builtin.h"

#include <cstddef>

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

std::string_view PackedBuiltin() { return {hogbatch_covtype_begin, hogbatch_covtype_end}; }

std::vector<std::string> BuiltinCategories() { return {"11", "12"}; }

}  // namespace hogbatch
