// Runs another program to its end and measures what it took.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hogbatch::compare {

struct ChildCommand {
  std::vector<std::string> words;  // the first is found in $PATH if it has no slash
  std::string out;                 // files for what it prints
  std::string err;
  double limit_seconds = 0;  // it is ended after this time
};

struct ChildResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  double wall_seconds = 0;
  double cpu_seconds = 0;       // with the processes it waited for
  double others_cpu = 0;        // share of all cores that other processes took meanwhile
  std::int64_t peak_bytes = 0;  // resident memory of its largest process
};

// Asked every 100 ms whether to give up.
using Interrupted = std::function<bool()>;

// The program gets a process group of its own, so that Ctrl-C reaches it only through this one, and
// is ended with all of its processes. Nothing comes back where `interrupted` said so. Throws Error
// if the program cannot be started.
//
// The kernel counts the memory of a process from before it became another program. So the one that
// calls this must stay small, or it is its own memory that is measured.
std::optional<ChildResult> RunChild(const ChildCommand& command, const Interrupted& interrupted);

// The last `lines` lines of a file that are not empty; empty if it cannot be read.
std::string LastLines(const std::string& path, int lines);

}  // namespace hogbatch::compare
