// Lane groups: trials of one shape that train together, as lanes of one network. Users read of them
// as blocks of lanes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nn/model_spec.h"
#include "training/sweep/tuner.h"

namespace hogbatch {

// How many lanes a core trains faster together than one after the other: as many as half of its L2
// cache holds the weights of, and at least one. The other half is for rows and activations.
std::size_t LanesInCache(const ModelSpec& model, std::int64_t cache_bytes);

// How many lanes each group has if `trials` are spread evenly over the workers, in as many rounds
// as groups of at most `most` lanes need.
std::size_t LanesPerGroup(std::size_t trials, std::size_t most, std::size_t workers);

// Stages that wait until there are enough for a lane group. Only stages of one shape and rung that
// go on from the same rows are in one lane group.
class LaneGroupMaker {
 public:
  // `shape_of`: of each trial, a number. Trials of one shape are in one group of GroupTrials.
  explicit LaneGroupMaker(std::vector<std::size_t> shape_of) : shape_of_(std::move(shape_of)) {}

  // `from`: names the place among the rows where the trial stands; empty: at the start.
  void Add(Tuner::Stage stage, const std::string& from);
  bool empty() const { return waiting_.empty(); }

  // A full lane group; none: there is none. `lanes`: of a full one of each shape.
  std::optional<std::vector<Tuner::Stage>> TakeFull(std::span<const std::size_t> lanes);
  // A lane group for one of `idle` workers, of stages in the highest rung; none: no stage waits.
  std::optional<std::vector<Tuner::Stage>> TakePart(std::span<const std::size_t> lanes,
                                                    std::size_t idle);

 private:
  struct Key {
    std::size_t rung = 0;
    std::size_t shape = 0;
    std::string from;
    auto operator<=>(const Key&) const = default;
  };
  using Waiting = std::map<Key, std::vector<Tuner::Stage>>;
  std::vector<Tuner::Stage> Take(Waiting::iterator from, std::size_t count);

  std::vector<std::size_t> shape_of_;
  Waiting waiting_;
};

}  // namespace hogbatch
