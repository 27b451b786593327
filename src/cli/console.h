// What the user sees while something runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hogbatch {

struct TerminalOptions;

// The reader of standard output is gone (`| head`), so no message is printed.
class OutputClosed {};

// Writes all of it to standard output; on a terminal, control characters but line ends and tabs
// become question marks. Throws OutputClosed, or Error for a full disk.
void WriteOutput(std::string_view text);

// "hogbatch: SENTENCE" on standard error. Errors of writing are ignored: a run must not end because
// of a message.
void Complain(std::string_view sentence) noexcept;

// Ends the process without freeing anything: a worker hangs, and its thread still uses memory.
[[noreturn]] void ExitWithoutFreeing(int code);

enum class Verbosity : std::uint8_t {
  kLive,    // a terminal: a line is rewritten in place
  kPlain,   // a file or pipe: whole lines
  kSilent,  // errors only
};

// Live on a terminal, unless the options silence it.
Verbosity VerbosityOf(const TerminalOptions& options);

// Lines on standard output. If the reader goes away, it is silent from then on and the work
// continues.
class Console {
 public:
  explicit Console(Verbosity verbosity) : verbosity_(verbosity) {}
  ~Console() { EndLive(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  Verbosity verbosity() const { return verbosity_; }

  void Say(std::string_view line);
  // Rewrites the live line, cut to the terminal; nothing unless kLive and in the foreground.
  void Live(std::span<const std::string> fields);
  // Rewrites several live lines in the same way.
  void LiveTable(std::span<const std::string> lines);
  void EndLive();
  // To standard error, with any verbosity.
  void Warn(std::string_view sentence);

 private:
  void Write(std::string_view text);

  Verbosity verbosity_;
  bool live_ = false;           // the terminal shows an unfinished line
  std::size_t live_above_ = 0;  // live lines above it
};

}  // namespace hogbatch
