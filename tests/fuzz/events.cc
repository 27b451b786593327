// The event file that a resumed run goes on with: what follows its last whole record is cut off.
#include "core/guard/small_file.h"
#include "report/event_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  static const ScratchFolder folder;
  static const std::string path = folder.path() + "/events";
  const std::string_view all = TextOf(bytes, size);
  folder.Write("events", all);
  report::CutEvents(path);
  const std::string kept = ReadSmallFile(path, size).value();
  Check(all.starts_with(kept), "nothing but the end is cut");
  if (std::getenv("HOGBATCH_FUZZ_GOOD") != nullptr) Check(kept == all, "a good seed is kept");
  // Most inputs are cut to nothing. The others stay as they are.
  if (kept.empty()) return 0;
  report::CutEvents(path);
  Check(std::filesystem::file_size(path) == kept.size(), "whole records stay");
  return 0;
}
