#include "training/checkpoint/kept_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "datasets/input_files.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLost = "\xEF\xBF\xBD";  // stands for bytes that are not UTF-8
constexpr std::string_view kPatternLetters = "*?[";

// Options with files of rows, beside the data.
struct RowsOption {
  std::string_view name;
  std::string& (*text)(TrainingSpec&);
};
constexpr std::array<RowsOption, 3> kRowsOptions{{
    {"test", [](TrainingSpec& spec) -> std::string& { return spec.test; }},
    {"valid", [](TrainingSpec& spec) -> std::string& { return spec.valid; }},
    {"labels", [](TrainingSpec& spec) -> std::string& { return spec.reading.labels; }},
}};

// The folder of a pattern is not a pattern, whatever letters it has.
std::string Escaped(const std::string& folder) {
  std::string escaped;
  for (const char c : folder) {
    if (c == '\\' || kPatternLetters.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string AbsolutePath(const std::string& path) {
  if (path.empty() || path == "-" || fs::path(path).is_absolute()) return path;
  std::error_code error;
  const std::string folder = fs::current_path(error).string();
  if (error || folder.find('\n') != std::string::npos) return path;  // lines are several files
  const bool is_pattern =
      path.find_first_of(kPatternLetters) != std::string::npos && !fs::exists(path, error);
  return (fs::path(is_pattern ? Escaped(folder) : folder) / path).string();
}

std::string AbsolutePaths(const std::string& text) {
  std::vector<std::string> files = SplitLines(text);
  std::ranges::transform(files, files.begin(), AbsolutePath);
  return JoinFiles(files);
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::path first = fs::weakly_canonical(AbsolutePath(a), error);
  return !error && first == fs::weakly_canonical(AbsolutePath(b), error) && !error;
}

}  // namespace

TrainingSpec WithAbsolutePaths(TrainingSpec spec) {
  spec.data = AbsolutePaths(spec.data);
  for (const RowsOption& option : kRowsOptions) {
    option.text(spec) = AbsolutePaths(option.text(spec));
  }
  if (StartsFromFile(spec)) spec.init = AbsolutePath(spec.init);
  return spec;
}

bool MayReplace(std::string_view name, const std::string& wanted, const std::string& had) {
  if (wanted == had) return true;
  if (had.empty()) return false;
  if (name == "init") return IsSameFile(wanted, had);
  return std::ranges::find(kRowsOptions, name, &RowsOption::name) != kRowsOptions.end();
}

void RefuseLostNames(const TrainingSpec& spec, std::string_view command,
                     const std::string& folder) {
  const auto check = [&](std::string_view text, std::string_view again) {
    for (const std::string& file : SplitLines(text)) {
      std::error_code error;
      if (file.find(kLost) == std::string::npos || fs::exists(file, error)) continue;
      throw UserError(fmt::format(
          "{}: the name of this file is not UTF-8, so that {} does not hold it; name the "
          "file again: hogbatch {} --resume {} {}",
          file, folder, command, folder, again));
    }
  };
  TrainingSpec shown = spec;
  check(shown.data, "FILE");
  for (const RowsOption& option : kRowsOptions) {
    check(option.text(shown), fmt::format("--{} FILE", option.name));
  }
}

}  // namespace hogbatch
