// Keeps a run on disk: a checkpoint at regular intervals, and every new best model. All files are
// written in the background while training goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/executors/executor.h"
#include "training/checkpoint/background_writer.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/checkpoint/checkpoint_options.h"
#include "training/input.h"
#include "training/observer.h"
#include "training/plan.h"

namespace hogbatch {

// Where and how often. `options` is the text that CheckpointTexts::options will hold.
struct KeepOptions {
  std::string folder;
  std::string options;
  double every = CheckpointOptions().every;  // seconds; infinite: only at the end
  // Whether each new best model becomes model.safetensors; checkpoints have it in any case.
  enum class SaveBest : std::uint8_t { kInFile, kInCheckpoints };
  SaveBest best = SaveBest::kInFile;
  std::string data = {};  // Fingerprint of the input; empty: it is computed
};

class RunKeeper final : public CheckpointKeeper {
 public:
  // All but `keep` outlive it. `resumed`: what the run goes on from, which is the newest checkpoint
  // that can be read; null: it begins. The numbers of new ones follow, and what has a higher number
  // is removed. UserError if no number follows.
  RunKeeper(KeepOptions keep, const TrainingPlan& plan, const TrainingInput& input,
            JobMemory& memory, TrainingObserver& observer, const Checkpoint* resumed);
  ~RunKeeper() override;

  // A checkpoint waits for the last one to be written.
  bool IsDue(double now) override;
  void Take(JobRun& job) override;
  void AwaitTaken() override;
  // The last one is on disk, or has failed.
  bool CanTake();

  // The snapshot holds a new best model, which is to be in model.safetensors soon.
  void SaveBest(SnapshotId snapshot) {
    if (keep_.best == KeepOptions::SaveBest::kInFile) unsaved_best_ = snapshot;
  }

 private:
  void Poll();
  void PostBest(SnapshotId snapshot);
  void PostCheckpoint(JobRun& job);
  void RemoveAllBut(std::int64_t last) const;
  void WarnOnce(std::string_view error);

  KeepOptions keep_;
  const TrainingPlan& plan_;
  const TrainingInput& input_;
  JobMemory& memory_;
  TrainingObserver& observer_;
  CheckpointTexts texts_;  // without the control state
  std::int64_t last_number_;
  std::optional<double> last_taken_;
  std::optional<SnapshotId> unsaved_best_;
  bool has_warned_ = false;  // of a file that could not be written
  BackgroundWriter writer_;  // last: its jobs use what is above
};

// Which rows a run trains on, so that a resumed run can tell that they are the same.
std::string Fingerprint(const TrainingInput& input);
// Whether the Fingerprint that was kept is that of the input now. Those of older programs have no
// test rows.
bool IsSameData(const std::string& kept, const std::string& now);

}  // namespace hogbatch
