// Shows a run to the user and records it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/reports/live_line.h"
#include "cli/reports/train_records.h"
#include "training/observer.h"

namespace hogbatch {

// Before training begins.
class SetupObserver final : public TrainingObserver {
 public:
  explicit SetupObserver(Console& console) : console_(console) {}

  void OnActivity(std::string_view what) override;
  void OnWarning(std::string_view sentence) override { console_.Warn(sentence); }
  void OnProgress(const Progress&) override {}
  void OnWorkerFailed(std::string_view, std::string_view) override {}

 private:
  Console& console_;
};

class TrainObserver final : public TrainingObserver {
 public:
  // Console and records outlive it.
  TrainObserver(Console& console, TrainRecords& records, double epochs, MetricScale scale,
                std::size_t workers)
      : console_(console), records_(records), epochs_(epochs), scale_(scale), workers_(workers) {}

  void OnPreparation(std::string_view worker, double seconds) override;
  void OnProgress(const Progress& progress) override;
  void OnWorkerFailed(std::string_view worker, std::string_view what) override;
  void OnWarning(std::string_view sentence) override { console_.Warn(sentence); }

  // The record could not be written completely.
  bool record_failed() const { return record_failed_; }

 private:
  void Record(const Progress& progress);
  void Show(const Progress& progress);

  Console& console_;
  TrainRecords& records_;
  double epochs_;
  MetricScale scale_;
  std::size_t workers_;  // that have not failed
  std::optional<Evaluation> last_;
  std::vector<std::string> live_;
  double shown_at_ = 0;
  bool showed_preparation_ = false;
  bool record_failed_ = false;
};

}  // namespace hogbatch
