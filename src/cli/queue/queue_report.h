// A queue as text: the live table, the summary and queue.json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/queue/job_outcome.h"

namespace hogbatch {

// A job as it is shown. Times are in seconds after the queue began.
struct JobRow {
  std::string name;
  JobOutcome outcome = JobOutcome::kWaiting;
  double epoch = 0;
  double epochs = 0;  // planned
  std::optional<double> loss = {};
  std::string metric = {};  // "accuracy 0.9123"; empty: not measured yet
  double share = 0;         // of all devices, since the last report
  std::optional<double> seconds_left = {};
  double arrived = 0;
  std::optional<double> began = {};
  std::optional<double> ended = {};
  std::vector<double> service = {};  // of each device
  std::string reason = {};           // why it stopped, as in summary.json
  std::string error = {};            // why it could not run
};

// A line of names, and one for each job.
std::vector<std::string> TableLines(std::span<const JobRow> jobs);

// The same when all is over, with the times from arrival to end: their mean and 95th percentile.
std::vector<std::string> SummaryLines(std::span<const JobRow> jobs);

// queue.json. `devices`: their names, in the order of JobRow::service.
std::string QueueText(std::string_view scheduler, std::span<const std::string> devices,
                      std::span<const JobRow> jobs);
// What such a text says. UserError, which names `source`, if it is none.
struct EarlierQueue {
  std::string scheduler;
  std::vector<JobRow> jobs;
};
EarlierQueue ParseQueue(std::string_view text, const std::string& source,
                        std::span<const std::string> devices);

}  // namespace hogbatch
