#include "cli/sweep/sweep_recorder.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/clock.h"
#include "core/replaced_file.h"

namespace hogbatch {

SweepRecorder::SweepRecorder(std::string folder, std::size_t trials)
    : folder_(std::move(folder)), lines_(trials) {}

void SweepRecorder::OnTrial(std::size_t trial) {
  lines_[trial].clear();
  is_recorded_ = false;
}

bool SweepRecorder::IsDue(double now) const {
  constexpr double kSeconds = 1, kShare = 20;
  if (is_recorded_ || writer_.busy()) return false;
  return now - posted_at_ >= std::max(kSeconds, kShare * took_);
}

void SweepRecorder::Post(const SweepRecord& record, const SweepResults& results,
                         std::vector<std::string> unneeded, double now) {
  writer_.Wait();
  is_recorded_ = true;
  posted_at_ = now;
  Add(std::move(unneeded));
  writer_.Post([this, trials = TrialsText(results), sweep = SweepText(record)] {
    WriteFiles(trials, sweep);
  });
}

void SweepRecorder::Write(const SweepRecord& record, const SweepResults& results,
                          std::vector<std::string> unneeded) {
  writer_.Wait();
  lines_.assign(lines_.size(), "");  // trials that were interrupted may not have been reported
  Add(std::move(unneeded));
  WriteFiles(TrialsText(results), SweepText(record));
}

void SweepRecorder::Add(std::vector<std::string> unneeded) {
  std::ranges::move(unneeded, std::back_inserter(unneeded_));
}

std::string SweepRecorder::TrialsText(const SweepResults& results) {
  std::string text;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].empty()) lines_[i] = TrialJson(results, i);
    text += lines_[i];
  }
  return text;
}

void SweepRecorder::WriteFiles(const std::string& trials, const std::string& sweep) {
  const double began = SteadySeconds();
  ReplaceFile(folder_ + "/trials.jsonl", trials);
  ReplaceFile(folder_ + "/sweep.json", sweep);
  for (const std::string& path : std::exchange(unneeded_, {})) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  took_ = SteadySeconds() - began;
}

}  // namespace hogbatch
