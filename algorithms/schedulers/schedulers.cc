#include "algorithms/schedulers/schedulers.h"

#include <fmt/format.h>

#include "algorithms/named_table.h"
#include "algorithms/schedulers/table.h"
#include "core/error.h"

namespace hogbatch {
namespace {

constexpr SchedulerInfo kSchedulers[] = {
#define SCHEDULER(make, ...) {__VA_ARGS__, make},
#include "algorithms/schedulers/table.inc"
#undef SCHEDULER
};

}  // namespace

std::span<const SchedulerInfo> Schedulers() { return kSchedulers; }

std::vector<std::string> SchedulerNames() { return NamesIn(Schedulers()); }

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
  const AlgorithmInfo& algorithm = FindAlgorithm(asked == "auto" ? "hogbatch" : asked);
  const bool is_exclusive = sharing == Sharing::kExclusive;
  if (is_exclusive && (algorithm.traits.adapts_batch_size || algorithm.traits.synchronous)) {
    throw UserError(fmt::format(
        "--algorithm {}: an exclusive job has one worker and needs --algorithm hogbatch", asked));
  }
  if (algorithm.traits.adapts_batch_size && !scheduler.traits.keeps_workers) {
    throw UserError(fmt::format(
        "--algorithm {}: it needs a job that keeps its workers, and --scheduler {} takes them "
        "away; use --algorithm hogbatch",
        asked, scheduler.name));
  }
  return algorithm;
}

}  // namespace hogbatch
