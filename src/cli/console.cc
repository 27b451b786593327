#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "cli/options/options.h"
#include "cli/reports/live_line.h"
#include "core/error.h"
#include "core/guard/printable.h"

namespace hogbatch {
namespace {

// A job in the background shares the terminal with what is in the foreground, such as the shell,
// whose line it must not rewrite.
bool IsInBackground() {
  const pid_t foreground = ::tcgetpgrp(STDOUT_FILENO);
  return foreground >= 0 && foreground != ::getpgrp();
}

// Throws as WriteOutput does.
void WriteBytes(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw OutputClosed();
    if (written < 0) ThrowErrno("write to", "standard output");
    text.remove_prefix(written);
  }
}

}  // namespace

void WriteOutput(std::string_view text) {
  // Names and labels from files must not move the cursor of a terminal or set its title.
  if (::isatty(STDOUT_FILENO) != 0) return WriteBytes(Printable(text, "\n\t"));
  WriteBytes(text);
}

void Complain(std::string_view sentence) noexcept {
  constexpr std::size_t kLongest = 4000;  // a name in it may be as long as a file
  std::string safe;
  try {
    safe = Printable(sentence.substr(0, kLongest), "\n\t");
    if (sentence.size() > kLongest) safe += "...";
    sentence = safe;
  } catch (...) {
    // Without memory the sentence is told as it is.
  }
  for (std::string_view part : {std::string_view("hogbatch: "), sentence, std::string_view("\n")}) {
    while (!part.empty()) {
      const ssize_t written = ::write(STDERR_FILENO, part.data(), part.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return;
      part.remove_prefix(written);
    }
  }
}

void ExitWithoutFreeing(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

Verbosity VerbosityOf(const TerminalOptions& options) {
  if (options.quiet || options.json) return Verbosity::kSilent;
  return IsLiveTerminal(STDOUT_FILENO) ? Verbosity::kLive : Verbosity::kPlain;
}

void Console::Say(std::string_view line) {
  EndLive();
  if (::isatty(STDOUT_FILENO) == 0) return Write(fmt::format("{}\n", line));
  if (verbosity_ != Verbosity::kLive) return Write(Printable(line, "\t") + "\n");
  Write(WrapLine(Printable(line, "\t"), TerminalWidth(STDOUT_FILENO)) + "\n");
}

void Console::Live(std::span<const std::string> fields) {
  if (verbosity_ != Verbosity::kLive || IsInBackground()) return;
  // The last column stays free: if the terminal wrapped there, the line could not be rewritten.
  const std::string line = FitFields(fields, TerminalWidth(STDOUT_FILENO) - 1);
  Write(fmt::format("\r{}\033[K", Printable(line)));
  live_ = true;
}

void Console::LiveTable(std::span<const std::string> lines) {
  if (verbosity_ != Verbosity::kLive || lines.empty() || IsInBackground()) return;
  EndLive();
  const auto width = static_cast<std::size_t>(std::max(TerminalWidth(STDOUT_FILENO) - 1, 1));
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += FirstCharacters(Printable(line), width);
  }
  Write(text);
  live_ = true;
  live_above_ = lines.size() - 1;
}

void Console::EndLive() {
  if (!live_) return;
  live_ = false;
  const std::size_t above = std::exchange(live_above_, 0);
  if (IsInBackground()) return;
  Write(above == 0 ? std::string("\r\033[K") : fmt::format("\r\033[{}A\033[J", above));
}

void Console::Warn(std::string_view sentence) {
  EndLive();
  Complain(sentence);
}

void Console::Write(std::string_view text) {
  if (verbosity_ == Verbosity::kSilent) return;
  try {
    WriteBytes(text);
  } catch (const OutputClosed&) {
    verbosity_ = Verbosity::kSilent;
  } catch (const Error& error) {
    verbosity_ = Verbosity::kSilent;
    Complain(error.what());
  }
}

}  // namespace hogbatch
