#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/overwrite.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "report/run_page.h"
#include "report/run_record.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

// A run as the user named it.
struct NamedRun {
  std::string name;
  std::string folder;
};

std::string NameOf(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::path(folder) / ".", error);
  const fs::path last = path.has_filename() ? path.filename() : path.parent_path().filename();
  return last.empty() ? folder : last.string();
}

// DIR or NAME=DIR. A folder whose own name has a '=' goes first.
NamedRun MakeNamedRun(const std::string& argument) {
  std::error_code error;
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || fs::exists(argument, error)) {
    return {NameOf(argument), argument};
  }
  if (equals == 0 || equals + 1 == argument.size()) {
    throw UserError(
        fmt::format("'{}' is not NAME=DIR: give a name and the folder of a run", argument));
  }
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// Runs of equal names get the paths that they were given by, and then numbers.
std::vector<NamedRun> MakeNamedRuns(const std::vector<std::string>& arguments) {
  std::vector<NamedRun> runs;
  for (const std::string& argument : arguments) runs.push_back(MakeNamedRun(argument));
  const auto is_double = [&](const std::string& name) {
    return std::ranges::count(runs, name, &NamedRun::name) > 1;
  };
  std::vector<std::string> names;
  for (const NamedRun& run : runs) names.push_back(is_double(run.name) ? run.folder : run.name);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].name = names[i];
    const auto same =
        std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]);
    if (same > 0) runs[i].name += fmt::format(" ({})", same + 1);
  }
  return runs;
}

}  // namespace

std::string WriteReportInto(const std::string& folder) {
  const std::string path = folder + "/report.html";
  const report::RunRecord record = report::ReadRun(NameOf(folder), folder);
  ReplaceFile(path, report::RunPage({&record, 1}));
  return path;
}

int WriteReport(const ReportOptions& options) {
  if (options.runs.empty()) {
    throw UserError(
        "report needs the folder of a run; for example: hogbatch report runs/DATE-TIME");
  }
  std::vector<report::RunRecord> runs;
  std::vector<std::string> left_out;
  for (const NamedRun& run : MakeNamedRuns(options.runs)) {
    RefuseOverwrite(options.out, RunFiles(run.folder));
    try {
      runs.push_back(report::ReadRun(run.name, run.folder));
      for (const std::string& problem : runs.back().problems) {
        Complain(fmt::format("{}: {}", run.name, problem));
      }
    } catch (const Error& error) {
      if (options.runs.size() == 1) throw;
      Complain(error.what());
      left_out.push_back(fmt::format("Left out: {}.", error.what()));
    }
  }
  if (runs.empty()) throw UserError("none of these is the folder of a run; nothing was written");
  for (const std::string& difference : report::Differences(runs)) Complain(difference);

  const std::string path = !options.out.empty()      ? options.out
                           : options.runs.size() > 1 ? "report.html"
                                                     : runs.front().folder + "/report.html";
  ReplaceFile(path, report::RunPage(runs, left_out),
              options.out.empty() ? NamedBy::kProgram : NamedBy::kUser);
  WriteOutput(fmt::format("report    {}\n", path));
  return left_out.empty() ? kExitOk : kExitUser;
}

}  // namespace hogbatch
