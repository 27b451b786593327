#include "cli/queue/kept_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/guard/folder.h"
#include "core/guard/format_version.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr char kJobsFolder[] = "/.jobs";  // no job can have that name
constexpr std::size_t kMostKeptBytes = std::size_t{2} << 20;
constexpr std::int64_t kKeptFormat = 1;
// The first line of a kept file, a comment in TOML: then the format and the name of a single job.
constexpr std::string_view kFirstLine = "# jobs of hogbatch queue, format ";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string KeptText(const JobsFile& file) {
  std::string_view text = file.text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return fmt::format("{}{} {}\n{}", kFirstLine, kKeptFormat,
                     file.jobs.size() == 1 ? file.jobs.front().name : "", text);
}

// Of a file of an earlier program, which had no such line, the name is that of the file.
std::string DefaultName(std::string_view text, const std::string& path) {
  if (!text.starts_with(kFirstLine)) return fs::path(path).stem();
  const std::string_view line = text.substr(0, text.find('\n')).substr(kFirstLine.size());
  const std::size_t blank = std::min(line.find(' '), line.size());
  std::int64_t format = 0;
  if (!ReadAll(line.substr(0, blank), format) || format < 1) {
    throw UserError(fmt::format("{}:1 is damaged: it names no format", path));
  }
  RefuseNewerFormat(path, format, kKeptFormat);
  return std::string(line.substr(std::min(blank + 1, line.size())));
}

std::vector<JobRequest> ReadKept(const std::string& path) {
  const auto text = ReadSmallFile(path, kMostKeptBytes);
  if (!text) throw UserError(fmt::format("{}: cannot be read", path));
  return ParseKept(*text, path);
}

}  // namespace

std::vector<JobRequest> ParseKept(std::string_view text, const std::string& path) {
  return ParseJobs(text, path, DefaultName(text, path));
}

KeptJobs::KeptJobs(const std::string& folder) : folder_(folder + kJobsFolder) {
  MakeFolder(folder_);
}

std::vector<std::string> KeptJobs::Files() const {
  if (auto files = JobFiles(folder_)) return *std::move(files);
  throw UserError(fmt::format("{} cannot be read", folder_));
}

void KeptJobs::Clear() const {
  for (const std::string& file : Files()) fs::remove(file);
}

void KeptJobs::Keep(const JobsFile& file) const {
  std::int64_t last = 0;
  for (const std::string& kept : Files()) {
    std::int64_t number = 0;
    if (ReadAll(fs::path(kept).stem().string(), number)) last = std::max(last, number);
  }
  ReplaceFile(fmt::format("{}/{:06}.toml", folder_, last + 1), KeptText(file));
}

std::vector<JobRequest> KeptJobs::Read() const {
  std::vector<JobRequest> all;
  std::set<std::string> names;
  for (const std::string& file : Files()) {
    for (JobRequest& job : ReadKept(file)) {
      if (names.insert(job.name).second) all.push_back(std::move(job));
    }
  }
  return all;
}

}  // namespace hogbatch
