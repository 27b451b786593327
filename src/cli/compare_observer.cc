#include "cli/compare_observer.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/text.h"

namespace hogbatch {
namespace {

using compare::Absent;
using compare::Phase;
using compare::RunNotice;
using compare::RunRecord;

std::string Place(const RunNotice& notice) {
  return fmt::format("{} {}/{}", notice.part, notice.index, notice.count);
}

std::string ResultOf(const RunRecord& record) {
  if (record.outcome == compare::Outcome::kDiverged) return "diverged";
  if (!record.done()) {
    const std::string& message = record.message;
    return fmt::format("{}: {}", Name(record.outcome), message.substr(message.rfind('\n') + 1));
  }
  std::string rate = ShortCount(record.examples_per_second) + " rows/s";
  if (record.plan.phase == Phase::kThroughput) return rate;
  const auto best = BestPoint(record.curve, record.plan.counted_seconds());
  if (!best) return rate;
  const auto reached =
      record.plan.stop ? SecondsTo(record.curve, *record.plan.stop, record.plan.counted_seconds())
                       : std::nullopt;
  if (reached) return fmt::format("reached the target in {}", ShortTime(*reached));
  return fmt::format("loss {:.4f} after {}", best->loss, ShortTime(best->seconds));
}

}  // namespace

void ConsoleCompareObserver::OnActivity(std::string_view what) {
  if (what.empty()) {
    console_.EndLive();
    return;
  }
  if (console_.verbosity() == Verbosity::kPlain) console_.Say(what);
  console_.Live(std::vector{std::string(what)});
}

void ConsoleCompareObserver::OnAbsent(const Absent& absent) {
  if (console_.verbosity() == Verbosity::kSilent) return;
  console_.Warn(fmt::format("{} is left out: {}", absent.name, absent.why));
}

void ConsoleCompareObserver::OnRun(const RunNotice& notice) {
  console_.Live(std::vector{Place(notice), ShortTime(notice.seconds_left) + " left", notice.what});
}

void ConsoleCompareObserver::OnRunEnd(const RunNotice& notice, const RunRecord& record) {
  console_.Say(fmt::format("{:18} {:42} {:32} {} left", Place(notice), notice.what,
                           ResultOf(record), ShortTime(notice.seconds_left)));
}

}  // namespace hogbatch
