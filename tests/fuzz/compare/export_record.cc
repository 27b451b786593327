// export.json, as a comparison reads it.
#include "compare/runs/contestants.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    const compare::Problem problem = compare::ParseProblem(TextOf(bytes, size), "in");
    Check(problem.train_rows >= 0 && problem.features >= 0, "counts");
  });
}
