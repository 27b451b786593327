#include "training/sweep/lane_groups.h"

#include <algorithm>
#include <iterator>

namespace hogbatch {
namespace {

std::size_t CeilOf(std::size_t whole, std::size_t part) { return (whole + part - 1) / part; }

}  // namespace

std::size_t LanesInCache(const ModelSpec& model, std::int64_t cache_bytes) {
  const std::int64_t bytes = Layout(model).floats * static_cast<std::int64_t>(sizeof(float));
  return std::max<std::int64_t>(1, cache_bytes / 2 / bytes);
}

std::size_t LanesPerGroup(std::size_t trials, std::size_t most, std::size_t workers) {
  const std::size_t rounds = CeilOf(trials, most * workers);
  return std::max<std::size_t>(1, CeilOf(trials, rounds * workers));
}

void LaneGroupMaker::Add(Tuner::Stage stage, const std::string& from) {
  waiting_[{.rung = stage.rung, .shape = shape_of_[stage.trial], .from = from}].push_back(stage);
}

std::vector<Tuner::Stage> LaneGroupMaker::Take(Waiting::iterator from, std::size_t count) {
  std::vector<Tuner::Stage>& stages = from->second;
  const auto end = stages.begin() + static_cast<std::ptrdiff_t>(std::min(count, stages.size()));
  std::vector<Tuner::Stage> taken(stages.begin(), end);
  stages.erase(stages.begin(), end);
  if (stages.empty()) waiting_.erase(from);
  return taken;
}

std::optional<std::vector<Tuner::Stage>> LaneGroupMaker::TakeFull(
    std::span<const std::size_t> lanes) {
  for (auto at = waiting_.end(); at != waiting_.begin();) {
    --at;
    const std::size_t full = lanes[at->first.shape];
    if (at->second.size() >= full) return Take(at, full);
  }
  return std::nullopt;
}

std::optional<std::vector<Tuner::Stage>> LaneGroupMaker::TakePart(
    std::span<const std::size_t> lanes, std::size_t idle) {
  if (waiting_.empty()) return std::nullopt;
  const auto highest = std::prev(waiting_.end());
  const std::size_t share = CeilOf(highest->second.size(), std::max<std::size_t>(1, idle));
  return Take(highest, std::min(lanes[highest->first.shape], share));
}

}  // namespace hogbatch
