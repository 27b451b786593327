// The file of the jobs of a queue.
#include "cli/queue/jobs_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    for (const JobRequest& job : ParseJobs(TextOf(bytes, size), "in.toml", "in")) {
      if (!job.error.empty()) throw UserError(job.error);
      Validate(job.spec);
    }
  });
}
