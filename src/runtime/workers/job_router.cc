// A worker of many jobs: one device, and a worker of its own for each job that it has served and
// not released. A job that runs out of device memory or loses its rows fails alone, and so does one
// that fails by itself on a core. Anything else ends the worker.
#include <map>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/guard/mapped_faults.h"
#include "runtime/workers/worker.h"

namespace hogbatch {
namespace {

class JobRouter : public Worker {
 public:
  JobRouter(WorkerId id, std::shared_ptr<Device> device, const JobMemories& memories, Writes writes)
      : id_(id), device_(std::move(device)), memories_(memories), writes_(writes) {}

  // Any job will do for what a device does at its first use.
  void Prepare() override {
    const std::shared_ptr<JobMemory> memory = memories_.First();
    if (memory) MakeWorker(id_, device_, *memory, writes_)->Prepare();
  }

  void Compute(const Task& task, int merge) override {
    if (!IsServed(task)) return Pause(task);
    Try(task, merge, [&](Worker& worker) { worker.Compute(task, merge); });
  }

  void Commit(const Task& task, int merge) override {
    if (!IsServed(task)) return;
    Try(task, merge, [&](Worker& worker) {
      worker.Commit(task, merge);
      committed_ = {.task = task.id, .merges = merge + 1};
    });
  }

  bool merge_is_torn() const override { return active_ && active_->merge_is_torn(); }

  Report Finish(const Task& task) override {
    Report report{.task = task.id, .worker = id_};
    if (IsServed(task)) {
      Try(task, task.merges, [&](Worker& worker) { report = worker.Finish(task); });
    }
    if (task.kind == TaskKind::kRelease) {
      active_ = nullptr;
      servers_.erase(task.job);
      failures_.erase(task.job);
    } else if (const auto failed = failures_.find(task.job);
               failed != failures_.end() && (IsServed(task) || failed->second.task == task.id)) {
      report.failure = failed->second;
      report.failure->task = task.id;
      report.failure->merges_done = committed_.task == task.id ? committed_.merges : 0;
    }
    return report;
  }

 private:
  struct Server {
    std::shared_ptr<JobMemory> memory;  // outlives the worker
    std::unique_ptr<Worker> worker;
  };

  // A worker takes memory on the device, which a pause is not worth.
  bool IsServed(const Task& task) const {
    const bool is_pause = task.kind == TaskKind::kSave || task.kind == TaskKind::kRestore ||
                          task.kind == TaskKind::kRelease;
    return !is_pause || (servers_.contains(task.job) && !failures_.contains(task.job));
  }

  // Tasks of a job that has failed come back undone.
  template <typename Call>
  void Try(const Task& task, int merge, const Call& call) {
    if (failures_.contains(task.job)) return;
    active_ = nullptr;
    try {
      active_ = ServerOf(task.job).worker.get();
      call(*active_);
    } catch (const OutOfDeviceMemory& error) {
      Fail(task, merge, error.what());
    } catch (const MappingLost& error) {
      Fail(task, merge, error.what());
    } catch (const DeviceError&) {
      throw;
    } catch (const std::exception& error) {
      // Calls that a device has queued may still use what was freed on the way here.
      if (!device_->info().shares_host_memory) throw;
      Fail(task, merge, WhatOf(error));
    }
  }

  void Fail(const Task& task, int merge, const char* what) {
    Failure& failure = failures_[task.job] = {.worker = id_, .what = what, .task = task.id};
    if (merge_is_torn()) failure.torn = {.task = task.id, .merge = merge};
  }

  // What a pause asks of a worker that has nothing of the job.
  void Pause(const Task& task) {
    if (task.slice != 0) return;
    JobMemory& memory = *memories_.Get(task.job);
    if (task.kind == TaskKind::kRestore) memory.RestoreSnapshot(task.snapshot);
    if (task.kind != TaskKind::kSave) return;
    memory.SaveWeights();
    if (!memory.is_exclusive) return;
    memory.ForgetSavedWorkers();
    memory.saved_workers[id_] = memory.moved;
  }

  Server& ServerOf(JobId job) {
    const auto found = servers_.find(job);
    if (found != servers_.end()) return found->second;
    std::shared_ptr<JobMemory> memory = memories_.Get(job);
    std::unique_ptr<Worker> worker = MakeWorker(id_, device_, *memory, writes_);
    return servers_[job] = {std::move(memory), std::move(worker)};
  }

  WorkerId id_;
  std::shared_ptr<Device> device_;
  const JobMemories& memories_;
  Writes writes_;
  std::map<JobId, Server> servers_;
  std::map<JobId, Failure> failures_;  // of jobs that this worker does not serve any more
  struct Committed {
    TaskId task = 0;
    std::int32_t merges = 0;
  } committed_;               // of the task that was last committed to
  Worker* active_ = nullptr;  // the one that was called last
};

}  // namespace

std::unique_ptr<Worker> MakeJobRouter(WorkerId id, std::shared_ptr<Device> device,
                                      const JobMemories& memories, Writes writes) {
  return std::make_unique<JobRouter>(id, std::move(device), memories, writes);
}

}  // namespace hogbatch
