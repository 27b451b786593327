// What the user sees while something runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/guard/held_output.h"

namespace hogbatch {

struct TerminalOptions;

// Writes all of it to standard output; on a terminal, control characters but line ends and tabs
// become question marks. A reader that takes nothing is waited for, after an interrupt for two
// seconds. Throws OutputClosed, or Error for a full disk.
void WriteOutput(std::string_view text);

// "hogbatch: SENTENCE" on standard error, whose reader is waited for in the same way. Errors of
// writing are ignored: a run must not end because of a message.
void Complain(std::string_view sentence) noexcept;

enum class Verbosity : std::uint8_t {
  kLive,    // a terminal: a line is rewritten in place
  kPlain,   // a file or pipe: whole lines
  kSilent,  // errors only
};

// Live on a terminal, unless the options silence it.
Verbosity VerbosityOf(const TerminalOptions& options);

// Lines on standard output. If the reader goes away, it is silent from then on and the work
// continues. No reader is waited for before the end: what it does not take is held.
class Console {
 public:
  explicit Console(Verbosity verbosity);
  ~Console() { Finish(); }
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
  // Waits until all that was said and warned is read; after an interrupt, two seconds for a reader
  // that takes nothing.
  void Finish() noexcept;

 private:
  void Write(std::string_view text);
  // Runs `write`, which writes to standard output, unless it is silent.
  void Guard(const std::function<void()>& write);
  // False: the reader is behind, or the console is silent.
  bool ReaderKeepsUp();

  Verbosity verbosity_;
  HeldOutput out_, err_;
  bool live_ = false;           // the terminal shows an unfinished line
  std::size_t live_above_ = 0;  // live lines above it
};

}  // namespace hogbatch
