// What this machine is, asked of `hogbatch devices` in a process of its own: some GPU drivers take
// much memory, which would count for every process started from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/runs/child.h"
#include "compare/runs/contestants.h"

namespace hogbatch::compare {

struct MachineFacts {
  std::string processor;
  std::int64_t cores = 1;
  std::int64_t memory_bytes = 0;
  std::string system;  // "Linux 6.1.0"
  Gpus gpus = Gpus::kNone;
  std::string gpu_names = {};
};

// From what `hogbatch devices --json` printed.
MachineFacts MachineFrom(std::string_view devices_json);

// Nothing comes back if interrupted. `scratch` is a folder for what it prints.
std::optional<MachineFacts> AskMachine(const Programs& programs, const std::string& scratch,
                                       const Interrupted& interrupted);

}  // namespace hogbatch::compare
