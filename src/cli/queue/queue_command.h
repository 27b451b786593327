// A queue while it runs: takes jobs, shows them, and keeps their files.
#pragma once

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/files.h"
#include "cli/options/options.h"
#include "cli/queue/jobs_file.h"
#include "cli/queue/queue_report.h"
#include "cli/reports/train_records.h"
#include "training/queue/queue.h"
#include "training/queue/shared_inputs.h"

namespace hogbatch {

class QueueCommand final : public QueueObserver {
 public:
  // The console outlives it.
  QueueCommand(const QueueCommandOptions& options, Console& console);

  // Returns the exit code.
  int Run();

  void OnPreparation(std::string_view worker, double seconds) override;
  void OnJobBegan(JobId job) override;
  void OnProgress(JobId job, const Progress& progress) override;
  void OnJobWarning(JobId job, std::string_view sentence) override;
  void OnJobEnded(JobId job, const TrainedModel& trained, const JobTimes& times) override;
  void OnWorkerFailed(std::string_view worker, std::string_view what) override;
  void OnPoll() override;

 private:
  // All that must be known of a job before it is added.
  struct Prepared {
    JobRequest request;  // with an error, if it cannot run
    std::shared_ptr<const TrainingInput> input = {};
    std::optional<TrainingPlan> plan = {};
    std::shared_ptr<const Checkpoint> resume = {};
    std::vector<std::string> warnings = {};
  };
  struct Job {
    std::string folder;
    MetricScale scale = {};
    std::unique_ptr<TrainRecords> records = {};
    std::optional<TrainingPlan> plan = {};
    bool report = false;
    double shown_service = 0;
    double shown_at = 0;
    bool record_failed = false;
  };

  void ReadStates();
  std::vector<JobRequest> FirstRequests();
  Prepared Prepare(JobRequest request);
  void FindCheckpoint(Prepared& job) const;
  void Tell(const Prepared& job);
  void Add(const Prepared& prepared);
  void AddToQueue(const Prepared& prepared);
  void OpenFolder(const Prepared& prepared, Job& job);
  void SaveModelOf(const Job& ended, const SavedModel& model);
  bool IsOver(const std::string& name) const;
  void Watch();
  void TakeWatchedFile(const std::string& path);
  void Show(const std::string& line);
  void ShowTable();
  void KeepJobsFile(const std::string& path);
  void WriteQueue();
  // The same while jobs run, which a full disk does not end: it is told once.
  void RecordQueue();
  JobRow& row(JobId job) { return rows_[row_of_.at(job)]; }
  Job& job(JobId id) { return *jobs_.at(id); }
  int ExitCode() const;

  QueueCommandOptions options_;
  Console& console_;
  Devices devices_;
  std::vector<std::string> device_names_;
  std::string folder_;
  std::optional<FolderLock> lock_;
  SharedInputs inputs_;
  std::map<std::string, JobRow> earlier_;  // the jobs of a resumed queue, by name
  std::vector<JobRow> rows_;               // all jobs, also those that cannot run
  std::map<JobId, std::size_t> row_of_;
  std::map<JobId, std::unique_ptr<Job>> jobs_;
  std::unique_ptr<Queue> queue_;
  double shown_at_ = 0;
  bool record_failed_ = false;
  double watched_at_ = 0;
  std::map<std::string, std::vector<std::string>> watched_;  // the jobs of each file of --watch
  std::deque<JobRequest> arriving_;                          // and not prepared yet
  std::string preparing_name_;
  std::future<Prepared> preparing_;
  bool prepared_in_vain_ = false;  // its file has gone meanwhile
};

}  // namespace hogbatch
