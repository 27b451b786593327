// The schedulers by name. A new one is a file beside this one and a line in table.inc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithms.h"
#include "core/options.h"
#include "core/words.h"
#include "runtime/control/scheduler.h"

namespace hogbatch {

struct SchedulerOptions {
  double short_seconds = 60;  // las: service up to which a job counts as short

  void Visit(OptionVisitor& visitor);
};

// What the rest of the program has to know about a scheduler.
struct SchedulerTraits {
  // A job that has begun keeps all its workers until its rows are handed out, unless one with a
  // higher priority arrived at the same moment.
  bool keeps_workers = false;
  bool is_default = false;  // one is
};

struct SchedulerInfo {
  std::string_view name;
  std::string_view summary;  // for --help; begins in lower case, without a full stop
  SchedulerTraits traits;
  std::unique_ptr<Scheduler> (*make)(const SchedulerOptions&);
};

std::span<const SchedulerInfo> Schedulers();
std::vector<std::string> SchedulerNames();

const SchedulerInfo& DefaultScheduler();
// UserError for an unknown name.
const SchedulerInfo& FindScheduler(std::string_view name);
std::unique_ptr<Scheduler> MakeScheduler(std::string_view name,
                                         const SchedulerOptions& options = {});

// What --scheduler accepts, and every scheduler with its summary, for --help.
Words SchedulerWords();
std::string SchedulerHelp();

// The algorithm of a job that shares its devices with others: "auto" means the default for
// workers of one kind. UserError for
// one that this scheduler, or an exclusive job, forbids.
enum class Sharing : std::uint8_t { kAnyWorkers, kExclusive };
const AlgorithmInfo& ChooseAlgorithmInQueue(std::string_view asked, const SchedulerInfo& scheduler,
                                            Sharing sharing);

}  // namespace hogbatch
