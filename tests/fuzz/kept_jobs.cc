// The jobs that a queue keeps in its folder, below a line with a format and a name.
#include "cli/queue/kept_jobs.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  return ReadOrRefused([&] {
    for (const JobRequest& job : ParseKept(TextOf(bytes, size), "000001.toml")) {
      Check(!job.name.empty() && job.name.find('/') == std::string::npos, "a name of a folder");
      Check(job.name.front() != '.', "a name that does not hide it");
      if (!job.error.empty()) throw UserError(job.error);
    }
  });
}
