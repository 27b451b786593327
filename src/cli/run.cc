#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/options/parse.h"
#include "core/error.h"

namespace hogbatch {
namespace {

constexpr char kNoMemory[] = "there is not enough memory for this";

// If a standard stream is closed, the next file opened would get its number, and messages would go
// into that file. So it is opened for reading only; writing to it still fails.
void HoldStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDONLY) < 0) ::open("/", O_RDONLY);  // takes the lowest number
  }
}

// The C library loads what it needs to unwind through its own functions at the first exception that
// passes one, and aborts if there is no memory left for that. So it is loaded now.
void LoadUnwinder() {
  std::array<void*, 1> frame{};
  ::backtrace(frame.data(), 1);
}

// Instead of a signal, for an exception in a function that must not throw. The libraries have some
// that allocate memory.
[[noreturn]] void EndInASentence() {
  const char* sentence = "internal error: an exception was not caught; please report it";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    sentence = kNoMemory;
  } catch (...) {  // the sentence stands
  }
  Complain(sentence);
  ::_exit(kExitMachine);
}

int Fail(std::string_view sentence, int code) {
  Complain(sentence);
  return code;
}

// Tells of the exception that is being handled. Returns the exit code.
int ReportException() {
  try {
    throw;
  } catch (const OutputClosed&) {
    return InterruptCount() > 0 ? kExitInterrupted : kExitOk;
  } catch (const UserError& error) {
    return Fail(error.what(), kExitUser);
  } catch (const std::bad_alloc&) {
    return Fail(kNoMemory, kExitMachine);
  } catch (const std::exception& error) {
    return Fail(error.what(), kExitMachine);
  }
}

[[noreturn]] void EndNow(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

struct Runner {
  int operator()(const PrintText& print) const {
    WriteOutput(print.text);
    return kExitOk;
  }
  template <typename Options>
  int operator()(const Options& options) const {
    return std::get<CommandRow<Options>>(kCommandTable).run(options);
  }
};

}  // namespace

int RunWorkers(Console& console, const std::function<bool()>& hangs,
               const std::function<int()>& run) {
  int code = kExitOk;
  try {
    code = run();
  } catch (...) {
    if (!hangs()) throw;
    console.Finish();
    EndNow(ReportException());
  }
  if (!hangs()) return code;
  console.Finish();
  EndNow(code);
}

int Main(int argc, const char* const* argv) {
  HoldStandardStreams();
  LoadUnwinder();
  std::set_terminate(EndInASentence);
  // If the reader of a pipe goes away, the write fails; no signal ends the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is then a failed write with a message
  try {
    return std::visit(Runner{}, Parse(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (...) {
    return ReportException();
  }
}

}  // namespace hogbatch
