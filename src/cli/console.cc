#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/interrupts.h"
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

constexpr char kStandardOutput[] = "standard output", kStandardError[] = "standard error";

// A stuck reader must not keep a program that was asked to stop.
bool Waits(double seconds) {
  constexpr double kPatience = 2;
  return InterruptCount() == 0 || seconds < kPatience;
}

// What is printed of a sentence: a name in it may be as long as a file.
std::string Shortened(std::string_view sentence) {
  constexpr std::size_t kLongest = 4000;
  std::string safe = Printable(sentence.substr(0, kLongest), "\n\t");
  if (sentence.size() > kLongest) safe += "...";
  return safe;
}

}  // namespace

void WriteOutput(std::string_view text) {
  HeldOutput output(STDOUT_FILENO, kStandardOutput);
  // Names and labels from files must not move the cursor of a terminal or set its title.
  if (::isatty(STDOUT_FILENO) != 0) return output.Write(Printable(text, "\n\t"), Waits);
  output.Write(text, Waits);
}

void Complain(std::string_view sentence) noexcept {
  std::string safe;
  try {
    sentence = safe = Shortened(sentence);
  } catch (...) {
    // Without memory the sentence is shown as it is.
  }
  try {
    HeldOutput output(STDERR_FILENO, kStandardError);
    for (const std::string_view part : {std::string_view("hogbatch: "), sentence, {"\n"}}) {
      output.Write(part, Waits);
    }
  } catch (...) {
    // There is no other place to tell it.
  }
}

Verbosity VerbosityOf(const TerminalOptions& options) {
  if (options.quiet || options.json) return Verbosity::kSilent;
  return IsLiveTerminal(STDOUT_FILENO) ? Verbosity::kLive : Verbosity::kPlain;
}

Console::Console(Verbosity verbosity)
    : verbosity_(verbosity),
      out_(STDOUT_FILENO, kStandardOutput),
      err_(STDERR_FILENO, kStandardError) {}

void Console::Say(std::string_view line) {
  EndLive();
  if (::isatty(STDOUT_FILENO) == 0) return Write(fmt::format("{}\n", line));
  if (verbosity_ != Verbosity::kLive) return Write(Printable(line, "\t") + "\n");
  Write(WrapLine(Printable(line, "\t"), TerminalWidth(STDOUT_FILENO)) + "\n");
}

void Console::Live(std::span<const std::string> fields) {
  if (verbosity_ != Verbosity::kLive || IsInBackground() || !ReaderKeepsUp()) return;
  // The last column stays free: if the terminal wrapped there, the line could not be rewritten.
  const std::string line = FitFields(fields, TerminalWidth(STDOUT_FILENO) - 1);
  Write(fmt::format("\r{}\033[K", Printable(line)));
  live_ = true;
}

void Console::LiveTable(std::span<const std::string> lines) {
  if (verbosity_ != Verbosity::kLive || lines.empty() || IsInBackground()) return;
  EndLive();
  if (!ReaderKeepsUp()) return;
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
  try {
    err_.Post(fmt::format("hogbatch: {}\n", Shortened(sentence)));
  } catch (const OutputClosed&) {
    // A run must not end because of a message.
  } catch (...) {
    Complain(sentence);  // takes no memory
  }
}

void Console::Finish() noexcept {
  try {
    EndLive();
    Guard([&] { out_.Write("", Waits); });
    err_.Write("", Waits);
  } catch (...) {
    // There is no other place to tell it.
  }
}

void Console::Write(std::string_view text) {
  Guard([&] { out_.Post(text); });
}

void Console::Guard(const std::function<void()>& write) {
  if (verbosity_ == Verbosity::kSilent) return;
  try {
    write();
  } catch (const OutputClosed&) {
    verbosity_ = Verbosity::kSilent;
  } catch (const Error& error) {
    verbosity_ = Verbosity::kSilent;
    Warn(error.what());
  }
}

bool Console::ReaderKeepsUp() {
  bool is_behind = true;
  Guard([&] { is_behind = !out_.Drain(); });
  return !is_behind;
}

}  // namespace hogbatch
