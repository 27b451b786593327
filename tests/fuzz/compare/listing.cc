// What a script of a baseline prints for --list. A wrong one is no side of a comparison.
#include "compare/runs/contestants.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  const compare::Problem problem = {.loss = "softmax", .optimizer = "sgd"};
  const compare::Contestants found =
      compare::SidesOf("name", "script", TextOf(bytes, size), problem);
  Check(found.sides.empty() != found.absent.empty(), "a side, or why there is none");
  if (std::getenv("HOGBATCH_FUZZ_GOOD") != nullptr) {
    Check(!found.sides.empty(), "a good seed is read");
  }
  return 0;
}
