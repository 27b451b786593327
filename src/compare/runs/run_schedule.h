// Does planned runs that are not done yet, keeps the record, and tells how far it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/runs/child.h"
#include "compare/runs/run_log.h"
#include "compare/runs/runner.h"
#include "compare/runs/side.h"

namespace hogbatch::compare {

// The user stopped the comparison. What is done is on disk.
class ComparisonInterrupted {};

struct RunNotice {
  std::string_view part;   // of the comparison: "tuning, grid"
  std::int64_t index = 0;  // from 1
  std::int64_t count = 0;  // of runs in this part
  std::string what;        // "pytorch compile, 64 rows, lr 0.1"
  double seconds_left = 0;
};

// Called on the caller's own thread.
class CompareObserver {
 public:
  virtual ~CompareObserver() = default;
  virtual void OnActivity(std::string_view what) = 0;
  virtual void OnAbsent(const Absent& absent) = 0;
  virtual void OnRun(const RunNotice& notice) = 0;
  virtual void OnRunEnd(const RunNotice& notice, const RunRecord& record) = 0;
};

class RunSchedule {
 public:
  // `save` is called after every run.
  RunSchedule(const Setting& setting, const std::vector<Side>& sides, RunLog& log,
              CompareObserver& observer, Interrupted interrupted, std::function<void()> save);

  // Announces a part of `runs` runs; what follows it takes about `later_seconds`. The name must
  // outlive the part.
  void Expect(std::string_view part, std::size_t runs, double later_seconds);

  void Announce(std::string_view sentence) { observer_.OnActivity(sentence); }

  // Null: the variant is left out, because it failed twice, hung, or cannot train on this data.
  // Throws ComparisonInterrupted; Error where hogbatch itself fails.
  const RunRecord* Do(const RunPlan& plan);

  const RunLog& log() const { return log_; }
  const std::vector<Side>& sides() const { return sides_; }
  const Setting& setting() const { return setting_; }

 private:
  const Side& SideOf(const RunPlan& plan) const;
  bool LeftOut(const RunPlan& plan) const;
  RunNotice NoticeOf(const RunPlan& plan) const;

  const Setting& setting_;
  const std::vector<Side>& sides_;
  RunLog& log_;
  CompareObserver& observer_;
  Interrupted interrupted_;
  std::function<void()> save_;
  std::string_view part_;
  std::int64_t index_ = 0;
  std::int64_t count_ = 0;
  double later_seconds_ = 0;
};

}  // namespace hogbatch::compare
