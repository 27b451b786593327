// A trace of a run in the Trace Event Format, which Perfetto (ui.perfetto.dev) and Chrome's
// about:tracing open: one thread a worker, its tasks and waits, batch sizes and rows/s.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/run_trace.h"

namespace hogbatch::report {

// Rows per second since the last one; `seconds` since training began.
struct ThroughputSample {
  double seconds = 0;
  double examples_per_second = 0;
};

// Calls `write` with one part of the file after another. `workers` are names in the order of ids.
void WriteTrace(const RunTrace& trace, std::span<const std::string> workers,
                std::span<const ThroughputSample> throughput,
                const std::function<void(std::string_view)>& write);

}  // namespace hogbatch::report
