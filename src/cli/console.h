// What the user sees while something runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hogbatch {

// The reader of standard output went away (`| head`): nobody is left to tell.
class OutputClosed {};

// Writes all of it to standard output. Throws OutputClosed, or Error for a full disk.
void WriteOutput(std::string_view text);

// "hogbatch: SENTENCE" on standard error. Nothing happens where that is closed or full: there is
// nobody left to tell, and no work to give up for it.
void Complain(std::string_view sentence) noexcept;

enum class Verbosity : std::uint8_t {
  kLive,    // a terminal: a line is rewritten in place
  kPlain,   // a file or pipe: whole lines
  kSilent,  // errors only
};

// Lines on standard output. Once the reader is gone it stays silent: the work goes on.
class Console {
 public:
  explicit Console(Verbosity verbosity) : verbosity_(verbosity) {}
  ~Console() { EndLive(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  Verbosity verbosity() const { return verbosity_; }

  void Say(std::string_view line);
  // Rewrites the live line, cut to the terminal; nothing unless kLive.
  void Live(std::span<const std::string> fields);
  void EndLive();
  // To standard error whatever the verbosity.
  void Warn(std::string_view sentence);

 private:
  void Write(std::string_view text);

  Verbosity verbosity_;
  bool live_ = false;  // an unfinished line stands on the terminal
};

}  // namespace hogbatch
