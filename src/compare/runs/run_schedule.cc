#include "compare/runs/run_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace hogbatch::compare {
namespace {

constexpr int kFailures = 2;  // after which a variant is left out

// What a run of this phase took on average; any phase where there is none yet.
double UsualSeconds(const RunLog& log, Phase phase) {
  const auto runs = static_cast<double>(log.Of(phase).size());
  if (runs > 0) return log.wall_seconds(phase) / runs;
  const auto all = static_cast<double>(log.records().size());
  return all > 0 ? log.wall_seconds() / all : 5;
}

}  // namespace

RunSchedule::RunSchedule(const Setting& setting, const std::vector<Side>& sides, RunLog& log,
                         CompareObserver& observer, Interrupted interrupted,
                         std::function<void()> save)
    : setting_(setting),
      sides_(sides),
      log_(log),
      observer_(observer),
      interrupted_(std::move(interrupted)),
      save_(std::move(save)) {}

void RunSchedule::Expect(std::string_view part, std::size_t runs, double later_seconds) {
  part_ = part;
  index_ = 0;
  count_ = static_cast<std::int64_t>(runs);
  later_seconds_ = std::max(0.0, later_seconds);
}

const RunRecord* RunSchedule::Do(const RunPlan& plan) {
  ++index_;
  if (const RunRecord* done = log_.Find(plan)) return done;
  if (LeftOut(plan)) return nullptr;
  const RunNotice notice = NoticeOf(plan);
  observer_.OnRun(notice);
  auto record = Perform(setting_, SideOf(plan), plan, interrupted_);
  if (!record) throw ComparisonInterrupted();
  const bool failed = !record->done() && record->outcome != Outcome::kDiverged;
  if (failed && IsOwn(SideOf(plan))) {
    throw Error(
        fmt::format("{} failed, so there is nothing to compare with: {}\nThe command was: {}",
                    plan.side, record->message, record->command));
  }
  log_.Add(*std::move(record));
  save_();
  observer_.OnRunEnd(notice, log_.records().back());
  return &log_.records().back();
}

const Side& RunSchedule::SideOf(const RunPlan& plan) const {
  const auto side = std::ranges::find(sides_, plan.side, &Side::name);
  Check(side != sides_.end(), "a planned run is of a side that takes part");
  return *side;
}

bool RunSchedule::LeftOut(const RunPlan& plan) const {
  int failures = 0;
  for (const RunRecord& run : log_.records()) {
    if (run.plan.side != plan.side || run.plan.variant != plan.variant) continue;
    if (run.outcome == Outcome::kImpossible || run.outcome == Outcome::kTimedOut) return true;
    if (run.outcome == Outcome::kFailed) ++failures;
  }
  return failures >= kFailures;
}

RunNotice RunSchedule::NoticeOf(const RunPlan& plan) const {
  std::string what =
      fmt::format("{}, {} rows", VariantName(SideOf(plan), plan.variant), plan.batch);
  if (plan.phase != Phase::kThroughput) what += fmt::format(", lr {:g}", plan.lr);
  if (plan.phase == Phase::kRace || plan.phase == Phase::kCurve) {
    what += fmt::format(", seed {}", plan.seed);
  }
  const double here = static_cast<double>(count_ - index_ + 1) * UsualSeconds(log_, plan.phase);
  return {.part = part_,
          .index = index_,
          .count = count_,
          .what = what,
          .seconds_left = here + later_seconds_};
}

}  // namespace hogbatch::compare
