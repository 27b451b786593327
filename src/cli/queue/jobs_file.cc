#include "cli/queue/jobs_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "cli/options/config.h"
#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/option_checks.h"
#include "core/option_values.h"
#include "core/spelling.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostJobBytes = std::size_t{1} << 20;
constexpr std::array<std::string_view, 7> kJobKeys = {
    "name", "data", "arrives", "exclusive", "priority", "report", "tensorboard"};

// The devices belong to the queue.
std::vector<std::string> KnownKeys() {
  std::vector<std::string> keys(kJobKeys.begin(), kJobKeys.end());
  OptionValues names([&](std::string_view name, const auto&) {
    if (name != "devices") keys.emplace_back(name);
  });
  TrainingSpec().Visit(names);
  return keys;
}

void CheckKey(const ConfigEntry& entry, const std::vector<std::string>& known) {
  if (entry.name == "devices") {
    throw UserError(
        fmt::format("{}: devices: all jobs share the devices of the queue; give --devices instead",
                    entry.place));
  }
  if (std::ranges::find(known, entry.name) != known.end()) return;
  throw UserError(
      fmt::format("{}: unknown key {}{}", entry.place, entry.name, DidYouMean(entry.name, known)));
}

void Set(JobRequest& job, const ConfigEntry& entry) {
  if (entry.name == "name") {
    job.name = entry.text;
  } else if (entry.name == "data") {
    job.spec.data = entry.text;
  } else if (entry.name == "arrives") {
    job.arrives = CheckedReal("arrives", entry.text, {0, 1e9});
  } else if (entry.name == "exclusive") {
    job.exclusive = CheckedFlag(entry.name, entry.text);
  } else if (entry.name == "priority") {
    job.priority = CheckedInteger("priority", entry.text, {-1e6, 1e6});
  } else if (entry.name == "report") {
    job.report = CheckedFlag(entry.name, entry.text);
  } else if (entry.name == "tensorboard") {
    job.tensorboard = CheckedFlag(entry.name, entry.text);
  } else {
    SetOption(job.spec, entry.name, entry.text);
  }
}

void CheckName(const JobRequest& job) {
  if (job.name.empty()) throw UserError(fmt::format("{}: a job needs a name", job.place));
  const bool is_plain = std::ranges::all_of(job.name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  if (is_plain && job.name.front() != '.' && job.name.size() <= 100) return;
  throw UserError(fmt::format(
      "{}: name '{}': a job's folder has its name; use up to 100 letters, digits, '-', '_' and '.'",
      job.place, job.name));
}

JobRequest MakeRequest(const std::vector<ConfigEntry>& defaults, const JobEntries& table,
                       const std::vector<std::string>& known, const std::string& default_name) {
  JobRequest job{.name = default_name, .place = table.place};
  for (const auto* entries : {&defaults, &table.entries}) {
    for (const ConfigEntry& entry : *entries) {
      CheckKey(entry, known);
      try {
        Set(job, entry);
      } catch (const UserError& error) {
        if (job.error.empty()) job.error = fmt::format("{}: {}", entry.place, error.what());
      }
    }
  }
  CheckName(job);
  return job;
}

// The name is that of a folder.
void CheckNames(const std::vector<JobRequest>& jobs) {
  std::map<std::string_view, std::string_view> places;
  for (const JobRequest& job : jobs) {
    const auto [found, is_new] = places.emplace(job.name, job.place);
    if (is_new) continue;
    throw UserError(
        fmt::format("{}: there is another job with the name '{}' in {}; give each its "
                    "own, since its folder has that name",
                    job.place, job.name, found->second));
  }
}

}  // namespace

std::optional<std::vector<std::string>> JobFiles(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".toml") files.push_back(entries->path());
  }
  if (error) return std::nullopt;
  std::ranges::sort(files);
  return files;
}

std::vector<JobRequest> ParseJobs(std::string_view text, const std::string& path,
                                  const std::string& default_name) {
  const JobTables tables = ParseJobTables(text, path);
  const std::vector<std::string> known = KnownKeys();
  for (const ConfigEntry& entry : tables.defaults) {
    if (entry.name == "name") {
      throw UserError(fmt::format("{}: name: each job needs its own", entry.place));
    }
    CheckKey(entry, known);
  }
  if (tables.jobs.empty()) {
    throw UserError(fmt::format("{} has no job; write one [[job]] table for each", path));
  }
  std::vector<JobRequest> jobs;
  for (const JobEntries& table : tables.jobs) {
    jobs.push_back(MakeRequest(tables.defaults, table, known,
                               tables.jobs.size() == 1 ? default_name : std::string()));
  }
  CheckNames(jobs);
  return jobs;
}

JobsFile ReadJobs(const std::string& path) {
  auto text = ReadSmallFile(path, kMostJobBytes);
  if (text) {
    std::vector<JobRequest> jobs = ParseJobs(*text, path, fs::path(path).stem());
    return {.text = *std::move(text), .jobs = std::move(jobs)};
  }
  throw UserError(
      fmt::format("{}: cannot be read, or is larger than 1 MB; name a TOML file of jobs", path));
}

}  // namespace hogbatch
