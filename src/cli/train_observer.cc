#include "cli/train_observer.h"

#include <fmt/format.h>

#include "core/error.h"

namespace hogbatch {
namespace {

constexpr double kPlainSeconds = 5;  // between lines that a log file keeps
constexpr int kPlainWidth = 200;
constexpr double kShortPreparation = 1;  // a shorter preparation is not logged

}  // namespace

void SetupObserver::OnActivity(std::string_view what) {
  if (what.empty()) return console_.EndLive();
  const std::string line = fmt::format("{} ...", what);
  console_.Live({&line, 1});
}

void TrainObserver::OnPreparation(std::string_view worker, double seconds) {
  const std::string line = fmt::format("preparing {} ...", worker);
  if (console_.verbosity() == Verbosity::kLive) return console_.Live({&line, 1});
  if (showed_preparation_ || seconds < kShortPreparation) return;
  showed_preparation_ = true;
  console_.Say(line);
}

void TrainObserver::OnProgress(const Progress& progress) {
  Record(progress);
  Show(progress);
}

void TrainObserver::OnWorkerFailed(std::string_view worker, std::string_view what) {
  --workers_;
  console_.Warn(fmt::format("worker {} failed{}: {}", worker,
                            workers_ > 0 ? " and the others go on" : "", what));
}

void TrainObserver::Record(const Progress& progress) {
  if (record_failed_) return;
  try {
    records_.Add(progress);
  } catch (const Error& error) {
    // A run goes on if its record cannot be written: one warning is enough.
    record_failed_ = true;
    console_.Warn(fmt::format("{}; training goes on without a record", error.what()));
  }
}

void TrainObserver::Show(const Progress& progress) {
  if (progress.evaluation) {
    last_ = progress.evaluation;
    console_.Say(EvaluationLine(progress, scale_));
    shown_at_ = progress.seconds;
  }
  if (console_.verbosity() == Verbosity::kLive) {
    // An evaluation shows an earlier moment; the live line below it shows the present.
    if (!progress.evaluation) live_ = LiveFields(progress, epochs_, last_, scale_);
    console_.Live(live_);
  } else if (!progress.evaluation && progress.seconds - shown_at_ >= kPlainSeconds) {
    console_.Say(FitFields(LiveFields(progress, epochs_, last_, scale_), kPlainWidth));
    shown_at_ = progress.seconds;
  }
}

}  // namespace hogbatch
