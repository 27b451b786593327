// Keeps trials.jsonl and sweep.json of a sweep while it runs. The files are written in the
// background.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/checkpoint/background_writer.h"
#include "training/sweep/trial_result.h"

namespace hogbatch {

class SweepRecorder {
 public:
  // `folder`: of the sweep.
  SweepRecorder(std::string folder, std::size_t trials);

  // The result of a trial has changed.
  void OnTrial(std::size_t trial);
  void OnBest() { is_recorded_ = false; }
  // Something has changed, and the last record is written and long enough ago: a record takes at
  // most a twentieth of the time.
  bool IsDue(double now) const;
  // `unneeded`: files and folders that are removed when the record is on disk, and not before.
  void Post(const SweepRecord& record, const SweepResults& results,
            std::vector<std::string> unneeded, double now);
  // What went wrong with records since the last call.
  std::optional<std::string> TakeError() { return writer_.TakeError(); }
  // The same at once, with all that was not removed. Throws Error.
  void Write(const SweepRecord& record, const SweepResults& results,
             std::vector<std::string> unneeded);

 private:
  void Add(std::vector<std::string> unneeded);
  std::string TrialsText(const SweepResults& results);
  void WriteFiles(const std::string& trials, const std::string& sweep);

  std::string folder_;
  std::vector<std::string> lines_;  // of trials.jsonl; empty: it is to be made
  bool is_recorded_ = true;         // all that is known is on its way to disk
  double posted_at_ = 0;
  // Of the background; others use them while it is not busy.
  std::vector<std::string> unneeded_;
  double took_ = 0;          // seconds
  BackgroundWriter writer_;  // last: its jobs use what is above
};

}  // namespace hogbatch
