// queue.json, and what is shown and written of it.
#include <array>

#include "cli/queue/queue_report.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hogbatch;
  static const std::array<std::string, 2> devices = {"cpu.0", "cpu.1"};
  return ReadOrRefused([&] {
    const EarlierQueue queue = ParseQueue(TextOf(bytes, size), "in", devices);
    TableLines(queue.jobs);
    SummaryLines(queue.jobs);
    const std::string text = QueueText(queue.scheduler, devices, queue.jobs);
    const EarlierQueue again = ParseQueue(text, "again", devices);
    Check(again.jobs.size() == queue.jobs.size(), "the same jobs again");
  });
}
