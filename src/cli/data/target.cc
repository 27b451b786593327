#include "cli/data/target.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>

#include "cli/console.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/replaced_file.h"
#include "datasets/text/unpack.h"

namespace hogbatch {
namespace {

// IDX files are read, not written.
Words TargetWords() {
  Words words = FormatWords();
  std::erase(words.words, Name(WrittenFormat::kIdx));
  return words;
}

}  // namespace

void VisitTarget(OptionVisitor& visitor, std::string& to) {
  visitor.Word("to", to, TargetWords(),
               "Format to write; auto goes by the name of the file: .csv, .jsonl, and LIBSVM for "
               "others");
}

WrittenFormat TargetFormat(const std::string& to, const std::string& path) {
  if (const std::string_view packed = PackedEnding(path); !packed.empty()) {
    throw UserError(
        fmt::format("{}: compressed files are read, not written; leave out {}, and compress the "
                    "file afterwards",
                    path, packed));
  }
  const WrittenFormat format = ParseWrittenFormat(CheckedWord("to", to, TargetWords()));
  if (format != WrittenFormat::kAuto) return format;
  if (path.ends_with(".csv")) return WrittenFormat::kCsv;
  if (path.ends_with(".jsonl") || path.ends_with(".json")) return WrittenFormat::kJsonLines;
  return WrittenFormat::kLibsvm;
}

void RefusePipes(std::string_view command, const std::string& data) {
  std::error_code error;
  if (data != "-" && !std::filesystem::is_fifo(data, error)) return;
  throw UserError(
      fmt::format("{} reads the data more than once, which neither standard input nor a pipe can "
                  "be; name a file",
                  command));
}

void WriteTarget(const std::string& path, NamedBy named_by,
                 const std::function<void(const TakeText&)>& write) {
  std::optional<ReplacedFile> file;  // none: standard output
  if (path != "-") file.emplace(path, named_by);
  const auto put = [&](std::string_view text) {
    if (!file) return WriteOutput(text);
    file->Write(std::as_bytes(std::span(text)));
  };
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  std::string held;
  write([&](std::string_view text) {
    held += text;
    if (held.size() < kAtOnce) return;
    put(held);
    held.clear();
  });
  put(held);
  if (file) file->Commit();
}

}  // namespace hogbatch
