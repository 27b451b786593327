// Lanes of several checkpoints become a checkpoint of one lane group.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "nn/lanes/lane_state.h"
#include "nn/lanes/lanes.h"
#include "training/sweep/kept_trials.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void ThrowDamaged() {
  throw UserError("the checkpoint of a block is damaged, or of another network");
}

const SavedWorker* WorkerOf(const Checkpoint& checkpoint) {
  for (const std::optional<SavedWorker>& worker : checkpoint.workers) {
    if (worker) return &*worker;
  }
  return nullptr;
}

// Puts the lane of `from`, whose network has `of` lanes, into its place in `flat`.
void CopyLane(const ModelSpec& of, std::span<const float> from, std::int64_t lane,
              const ModelSpec& to, std::int64_t place, std::span<float> flat) {
  if (std::ssize(from) != Layout(of).floats || lane >= of.lanes) ThrowDamaged();
  SetLane(to, place, LaneOf(of, from, lane), flat);
}

class Fusion {
 public:
  Fusion(const Checkpoint& first, const ModelSpec& model, std::size_t arrays)
      : model_(model), state_(EmptyState(model, arrays)) {
    const std::size_t floats = Layout(model).floats;
    fused_.texts = first.texts;
    control_ = ParseJson<Json>(first.texts.control);
    control_["lanes"] = Json::array();
    fused_.weights.resize(floats);
    if (!first.best.empty()) fused_.best.resize(floats);
    fused_.workers.resize(first.workers.size());
    if (const SavedWorker* const worker = WorkerOf(first)) worker_ = {.updates = worker->updates};
  }

  void Add(const KeptLane& kept) {
    const Checkpoint& from = *kept.checkpoint;
    const auto control = ParseJson<Json>(from.texts.control);
    ModelSpec of = model_;
    of.lanes = std::ssize(control.at("lanes"));
    if (place_ == 0)
      ShareSeconds(static_cast<double>(model_.lanes) / static_cast<double>(of.lanes));
    if (kept.lane >= of.lanes) ThrowDamaged();
    control_["lanes"].push_back(control["lanes"][kept.lane]);
    CopyLane(of, from.weights, kept.lane, model_, place_, fused_.weights);
    if (!fused_.best.empty()) CopyLane(of, from.best, kept.lane, model_, place_, fused_.best);
    const SavedWorker* const worker = WorkerOf(from);
    if (worker && worker->optimizer) {
      SetLane(model_, place_, LaneOf(of, *worker->optimizer, kept.lane), state_);
    }
    ++place_;
  }

  Checkpoint Take() {
    if (worker_ && !fused_.workers.empty()) {
      worker_->optimizer = std::move(state_);
      fused_.workers.front() = std::move(worker_);
    }
    fused_.texts.control = control_.dump();
    return std::move(fused_);
  }

 private:
  // Each trial has an equal share of the time of its lane group, before and after.
  void ShareSeconds(double factor) {
    for (const char* const name : {"seconds", "evaluation_seconds"}) {
      Json& seconds = control_.at("meter").at(name);
      seconds = seconds.get<double>() * factor;
    }
  }

  ModelSpec model_;
  OptimizerState state_;
  std::optional<SavedWorker> worker_;
  Json control_;
  Checkpoint fused_;
  std::int64_t place_ = 0;
};

}  // namespace

std::string RowsPlace(const Checkpoint& checkpoint) {
  try {
    const auto control = ParseJson<Json>(checkpoint.texts.control);
    return control.at("job").at("cursor").dump() + control.at("job").at("examples").dump();
  } catch (const nlohmann::json::exception&) {
    ThrowDamaged();
  }
}

Checkpoint FuseCheckpoints(std::span<const KeptLane> lanes, const ModelSpec& model,
                           std::size_t arrays) {
  try {
    Fusion fusion(*lanes.front().checkpoint, model, arrays);
    for (const KeptLane& lane : lanes) fusion.Add(lane);
    return fusion.Take();
  } catch (const nlohmann::json::exception&) {
    ThrowDamaged();
  }
}

}  // namespace hogbatch
