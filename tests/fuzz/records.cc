// What `hogbatch report` reads: metrics, then summary, then options, with a zero byte between them.
// A page, which takes ten times longer than reading, is made of one input in 32.
#include <functional>
#include <span>

#include "report/run_page.h"
#include "report/run_record.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  static const ScratchFolder folder;
  std::string_view rest = TextOf(bytes, size);
  for (const char* name : {"metrics.jsonl", "summary.json", "options.json"}) {
    const std::string_view part = rest.substr(0, rest.find('\0'));
    folder.Write(name, part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return ReadOrRefused([&] {
    const report::RunRecord record = report::ReadRun("run", folder.path());
    if (std::hash<std::string_view>()(TextOf(bytes, size)) % 32 != 0) return;
    Check(!report::RunPage({&record, 1}).empty(), "a page is made");
  });
}
