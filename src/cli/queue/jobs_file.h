// The file of `hogbatch queue`: one [[job]] table per job, and [defaults] for all of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/spec.h"

namespace hogbatch {

// A job as the user asks for it.
struct JobRequest {
  std::string name;   // also that of its folder
  std::string place;  // FILE:LINE
  TrainingSpec spec;
  bool exclusive = false;
  std::int64_t priority = 0;
  double arrives = 0;   // seconds after the queue began
  bool report = false;  // as in TrainOptions
  bool tensorboard = false;
  std::string error;  // why it cannot run: a value that its option cannot have; empty: it can
};

// UserError, with the place, for text that is not TOML, an unknown key or table, a job without a
// name, and two jobs with one name. `default_name`: of a single job that has none; empty: it needs
// one.
std::vector<JobRequest> ParseJobs(std::string_view text, const std::string& path,
                                  const std::string& default_name = {});

struct JobsFile {
  std::string text;
  std::vector<JobRequest> jobs;
};
// A single job that has no name has that of the file. UserError if it cannot be read.
JobsFile ReadJobs(const std::string& path);

// The files of jobs (*.toml) in a folder, in the order of their names; none if the folder cannot be
// read.
std::optional<std::vector<std::string>> JobFiles(const std::string& folder);

}  // namespace hogbatch
