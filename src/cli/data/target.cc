#include "cli/data/target.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "cli/console.h"
#include "core/error.h"
#include "core/replaced_file.h"

namespace hogbatch {

WrittenFormat TargetFormat(const std::string& to, const std::string& path) {
  for (const std::string_view packed : {".gz", ".xz", ".bz2", ".zst"}) {
    if (path.ends_with(packed)) {
      throw UserError(
          fmt::format("{}: compressed files are read, not written; leave out {}, and compress the "
                      "file afterwards",
                      path, packed));
    }
  }
  if (to != "auto") return ParseWrittenFormat(to);
  if (path.ends_with(".csv")) return WrittenFormat::kCsv;
  if (path.ends_with(".jsonl") || path.ends_with(".json")) return WrittenFormat::kJsonLines;
  return WrittenFormat::kLibsvm;
}

void WriteTarget(const std::string& path, const std::function<void(const TakeText&)>& write) {
  if (path == "-") return write([](std::string_view text) { WriteOutput(text); });
  ReplacedFile file(path, NamedBy::kUser);
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  std::string held;
  write([&](std::string_view text) {
    held += text;
    if (held.size() < kAtOnce) return;
    file.Write(std::as_bytes(std::span(held)));
    held.clear();
  });
  file.Write(std::as_bytes(std::span(held)));
  file.Commit();
}

}  // namespace hogbatch
