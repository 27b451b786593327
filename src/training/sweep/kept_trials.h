// Where the checkpoint of each trial of a sweep is: alone in a folder of its own, or as a lane of a
// lane group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/model_spec.h"
#include "training/checkpoint/checkpoint_file.h"

namespace hogbatch {

class KeptTrials {
 public:
  struct Place {
    std::string folder;
    std::int64_t lane = 0;
    bool is_lane = false;
  };
  using Warn = std::function<void(std::string_view)>;

  // `folder`: trials/ of a sweep. Finds what a sweep that was stopped has left there.
  // `unneeded`, which outlives it, gets the folders that no trial needs any more.
  KeptTrials(std::string folder, std::size_t trials, std::vector<std::string>& unneeded, Warn warn);

  // Where checkpoints of these trials will be written, and what they say of the trials.
  std::string FolderOf(std::size_t trial) const;
  std::string NewLaneGroup();
  static std::string LaneGroupText(std::span<const std::size_t> trials);

  // If there is a checkpoint, the trial needs no other. If none could be written, it keeps the one
  // that it has.
  void Set(std::size_t trial, Place place);
  // Null: the trial has no checkpoint.
  const Place* Find(std::size_t trial) const { return places_[trial] ? &*places_[trial] : nullptr; }
  // The newest that can be read; null: there is none.
  std::shared_ptr<const Checkpoint> Read(std::size_t trial);
  // The trial is over. A folder is not needed when that is so of all its trials.
  void Forget(std::size_t trial);
  // Its checkpoint cannot be used.
  void Lose(std::size_t trial);

 private:
  void FindLaneGroup(const std::string& folder, std::int64_t number);
  // A folder that cannot be read concerns its own trials only.
  std::vector<std::string> CheckpointsIn(const std::string& folder) const;

  std::string folder_;
  std::vector<std::string>& unneeded_;
  Warn warn_;
  std::vector<std::optional<Place>> places_;
  std::int64_t last_group_ = 0;
  // The last one that was read: the lanes of a lane group are asked for one after the other.
  std::string read_path_;
  std::shared_ptr<const Checkpoint> read_;
};

// Names the place among the rows where a checkpoint was taken: lanes can go on together if it is
// the same.
std::string RowsPlace(const Checkpoint& checkpoint);

// A lane of a checkpoint.
struct KeptLane {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::int64_t lane = 0;
};
// A checkpoint of a lane group of these lanes. `model` is that of the group, whose optimiser keeps
// `arrays` arrays. All lanes stand at the same place. UserError for a damaged one.
Checkpoint FuseCheckpoints(std::span<const KeptLane> lanes, const ModelSpec& model,
                           std::size_t arrays);

}  // namespace hogbatch
