// The files of jobs that a queue keeps in its own folder, so that it can go on with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/queue/jobs_file.h"

namespace hogbatch {

// The jobs of one such file. `path` names it, and a job of an earlier program that has no name.
std::vector<JobRequest> ParseKept(std::string_view text, const std::string& path);

class KeptJobs {
 public:
  // Of the queue in `folder`. UserError if they would be written through a link.
  explicit KeptJobs(const std::string& folder);

  // What another queue left in the folder.
  void Clear() const;
  void Keep(const JobsFile& file) const;
  // The jobs of all files, in the order they were kept in; of two with one name the first.
  // UserError for a file of a newer program.
  std::vector<JobRequest> Read() const;

 private:
  std::vector<std::string> Files() const;

  std::string folder_;
};

}  // namespace hogbatch
