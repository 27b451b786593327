// A queue while it runs: takes jobs, shows them, and keeps their files.
#pragma once

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/files.h"
#include "cli/options/options.h"
#include "cli/queue/jobs_file.h"
#include "cli/queue/kept_jobs.h"
#include "cli/queue/queue_report.h"
#include "cli/queue/watched_files.h"
#include "cli/reports/train_records.h"
#include "cli/run_folder.h"
#include "training/checkpoint/background_writer.h"
#include "training/queue/prepared_job.h"
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
    JobRequest request;
    std::unique_ptr<RunFolder> folder = {};
    PreparedJob job = {};
  };
  struct Job {
    std::string path;                   // of its folder
    std::unique_ptr<RunFolder> folder;  // until all of its files are written
    MetricScale scale = {};
    std::unique_ptr<TrainRecords> records = {};
    std::optional<TrainingPlan> plan = {};
    bool report = false;
    double shown_service = 0;
    double shown_at = 0;
    bool record_failed = false;
    JobOutcome outcome = JobOutcome::kDone;             // once it has ended
    std::future<std::vector<std::string>> saving = {};  // what to report, when it is saved
  };

  // Returns the exit code.
  int RunJobs();
  // Returns the first jobs.
  std::vector<JobRequest> Open();
  void ReadStates();
  void Retry();
  void Accept(const JobRequest& request);
  void KeepEarlier(const std::vector<JobRequest>& requests);
  Prepared Prepare(JobRequest request);
  void Announce(const Prepared& prepared);
  void Add(Prepared& prepared);
  void AddToQueue(Prepared& prepared);
  void OpenFolder(Prepared& prepared, Job& job);
  std::future<std::vector<std::string>> Save(const Job& ended, const TrainedModel& trained);
  void NoteUnsaved(JobId id, const std::string& why);
  void ConcludeSaved();
  void Conclude(JobId id);
  void ConcludeAll();
  void Watch();
  void TakePrepared();
  void PrepareNext();
  void TakeWatchedFile(const std::string& path);
  void AcceptNew(const JobsFile& file, std::vector<std::string>& names);
  void Cancel(const std::string& name);
  void Show(const std::string& line);
  void ShowTable();
  void WriteQueue();
  // Empty: it is written.
  std::string WhyQueueUnwritten();
  // The same while jobs run, which a full disk does not end: it is reported once.
  void RecordQueue();
  JobRow* FindRow(std::string_view name);
  JobRow& row(JobId job) { return rows_[row_of_.at(job)]; }
  Job& job(JobId id) { return *jobs_.at(id); }
  int ExitCode() const;

  QueueCommandOptions options_;
  Console& console_;
  Devices devices_;
  std::vector<std::string> device_names_;
  std::string folder_;
  std::optional<FolderLock> lock_;
  std::optional<KeptJobs> kept_;
  SharedInputs inputs_;
  std::map<std::string, JobRow> earlier_;  // what queue.json says of the jobs of a resumed queue
  std::set<std::string> resumed_;          // all jobs of a resumed queue
  std::string begins_anew_;                // the one of them that does
  std::vector<JobRow> rows_;               // all jobs, also those that cannot run
  std::map<JobId, std::size_t> row_of_;
  std::map<JobId, std::unique_ptr<Job>> jobs_;
  std::unique_ptr<Queue> queue_;
  double shown_at_ = 0;
  bool record_failed_ = false;

  double watched_at_ = 0;
  WatchedFiles watched_;
  std::map<std::string, std::vector<std::string>> watched_jobs_;  // of each file
  std::deque<JobRequest> arriving_;                               // and not prepared yet
  std::future<Prepared> preparing_;

  // Last: their threads use what is above.
  BackgroundWriter saver_;
  std::optional<BackgroundWriter> preparer_;  // of a queue that watches
};

}  // namespace hogbatch
