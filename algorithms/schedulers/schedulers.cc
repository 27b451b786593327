#include "algorithms/schedulers/schedulers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "algorithms/named_table.h"
#include "algorithms/schedulers/table.h"
#include "core/error.h"

namespace hogbatch {

void SchedulerOptions::Visit(OptionVisitor& visitor) {
  visitor.Number("short-job", short_seconds, {0.001, 1e9},
                 "With las: seconds of service up to which a job counts as short and goes first");
}

namespace {

constexpr SchedulerInfo kSchedulers[] = {
#define SCHEDULER(make, ...) {__VA_ARGS__, make},
#include "algorithms/schedulers/table.inc"
#undef SCHEDULER
};

}  // namespace

std::span<const SchedulerInfo> Schedulers() { return kSchedulers; }

std::vector<std::string> SchedulerNames() { return NamesIn(Schedulers()); }

const SchedulerInfo& DefaultScheduler() {
  const auto is_default = [](const SchedulerInfo& info) { return info.traits.is_default; };
  const auto* const found = std::ranges::find_if(kSchedulers, is_default);
  Check(found != std::end(kSchedulers), "one scheduler is the default");
  return *found;
}

const SchedulerInfo& FindScheduler(std::string_view name) {
  return FindIn(Schedulers(), "scheduler", name);
}

std::unique_ptr<Scheduler> MakeScheduler(std::string_view name, const SchedulerOptions& options) {
  return FindScheduler(name).make(options);
}

Words SchedulerWords() { return {.words = SchedulerNames()}; }

std::string SchedulerHelp() { return SummariesIn(Schedulers()); }

const AlgorithmInfo& ChooseAlgorithmInQueue(std::string_view asked, const SchedulerInfo& scheduler,
                                            Sharing sharing) {
  const AlgorithmInfo& usual = DefaultAlgorithm(DefaultFor::kOneKind);
  const AlgorithmInfo& algorithm = asked == "auto" ? usual : FindAlgorithm(asked);
  const bool is_exclusive = sharing == Sharing::kExclusive;
  if (is_exclusive && (algorithm.traits.adapts_batch_size || algorithm.traits.synchronous)) {
    throw UserError(
        fmt::format("--algorithm {}: an exclusive job has one worker and needs --algorithm {}",
                    asked, usual.name));
  }
  if (algorithm.traits.adapts_batch_size && !scheduler.traits.keeps_workers) {
    throw UserError(fmt::format(
        "--algorithm {}: it needs a job that keeps its workers, and --scheduler {} takes them "
        "away; use --algorithm {}",
        asked, scheduler.name, usual.name));
  }
  return algorithm;
}

}  // namespace hogbatch
