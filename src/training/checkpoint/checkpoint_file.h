// A checkpoint on disk: all that a run needs to go on as if it had never been interrupted. A file
// in the safetensors format, with a checksum for each tensor and text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/store/job_memory.h"

namespace hogbatch {

// Texts of JSON, which this file does not look into.
struct CheckpointTexts {
  std::string options;  // the options of the run, as in options.json
  std::string data;     // which rows the run trains on, to recognise them
  std::string control;  // JobRun::VisitState
  // Of the model of --init FILE that the run began with, as in a model file; empty: there was none.
  std::string network = {};
  std::string schema = {};
};

struct Checkpoint {
  CheckpointTexts texts;
  std::vector<float> weights;
  std::vector<float> best;  // the model of the best evaluation; empty: there was none
  std::vector<std::optional<SavedWorker>> workers;
  // In the name of its file; 0: that has none. not state: number
  std::int64_t number = 0;
};

// The same with the numbers where they are.
struct CheckpointView {
  CheckpointTexts texts;
  std::span<const float> weights;
  std::span<const float> best;
  std::span<const std::optional<SavedWorker>> workers;
};

// Replaces `path` atomically.
void WriteCheckpoint(const std::string& path, const CheckpointView& checkpoint);

// UserError if the file is damaged, was written by a newer program, or is no checkpoint.
Checkpoint ReadCheckpoint(const std::string& path);

// The checkpoints of a run folder, the newest first. UserError if their folder is there and cannot
// be read, so that no run begins anew in place of one that is to go on.
std::vector<std::string> ListCheckpoints(const std::string& folder);
// The newest of them that is not damaged; none: there is none. Tells `warn` of newer ones that are.
// UserError if all are, so that what is there is not taken for nothing, and for one that may be
// whole, but cannot be opened or is of a newer program.
std::optional<Checkpoint> NewestCheckpoint(const std::string& folder,
                                           const std::function<void(std::string_view)>& warn);
// The path of checkpoint `number`, counted from 1.
std::string CheckpointPath(const std::string& folder, std::int64_t number);
// Of a path; 0: no checkpoint has that name.
std::int64_t CheckpointNumber(const std::string& path);

}  // namespace hogbatch
