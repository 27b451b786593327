#include "runtime/control/evaluations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hogbatch {
namespace {

// Large enough that messages cost nothing, small enough that a worker is soon back at training.
constexpr std::int64_t kPartRows = 2048;

// The test file decides nothing.
bool IsFinite(const Evaluation& evaluation) {
  for (const auto& sums : {evaluation.train, evaluation.valid}) {
    if (sums && !std::isfinite(sums->loss)) return false;
  }
  return true;
}

}  // namespace

std::optional<EvaluationSums>& SumsOf(Evaluation& evaluation, Split split) {
  switch (split) {
    case Split::kTrain:
      return evaluation.train;
    case Split::kValid:
      return evaluation.valid;
    case Split::kTest:
      break;
  }
  return evaluation.test;
}

void Evaluations::Begin(double epoch) {
  under_way_ = snapshot_wanted_ = true;
  handed_out_ = 0;
  waiting_.clear();
  snapshot_ = best_snapshot_ == 0 ? 1 : 0;
  current_ = {.epoch = epoch, .train = {}, .valid = {}, .test = {}};
}

std::optional<Task> Evaluations::Next() {
  if (snapshot_wanted_) {
    snapshot_wanted_ = false;
    ++handed_out_;
    return Task{.kind = TaskKind::kSnapshot,
                .rows = {},
                .snapshot = snapshot_,
                .at_start = current_.epoch == 0};
  }
  if (waiting_.empty()) return std::nullopt;
  Task task = std::move(waiting_.back());
  waiting_.pop_back();
  ++handed_out_;
  return task;
}

void Evaluations::Return(const Task& task) {
  if (!under_way_ || task.snapshot != snapshot_) return;
  --handed_out_;
  if (task.kind == TaskKind::kSnapshot) {
    snapshot_wanted_ = true;
  } else {
    waiting_.push_back(task);
  }
}

std::optional<Evaluation> Evaluations::Finish(const Task& task, const Report& report) {
  if (!under_way_ || task.snapshot != snapshot_) return std::nullopt;
  --handed_out_;
  if (task.kind == TaskKind::kKeepLanes) {
    under_way_ = false;
    return std::nullopt;
  }
  if (task.kind == TaskKind::kSnapshot) {
    // Parts are taken from the end: validation rows first, since they decide.
    if (!skip_training_rows_) {
      AddParts(Split::kTrain, {0, rows_.evaluated_train.value_or(rows_.train)});
    }
    AddParts(Split::kTest, {0, rows_.test});
    AddParts(Split::kValid, {rows_.train, rows_.train + rows_.valid});
  } else if (task.split != Split::kTrain || !skip_training_rows_) {
    std::optional<EvaluationSums>& sums = SumsOf(current_, task.split);
    if (!sums) sums.emplace();
    *sums += report.evaluation;
  }
  if (handed_out_ > 0 || !waiting_.empty()) return std::nullopt;
  return Conclude();
}

void Evaluations::AddParts(Split split, RowRange rows) {
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kPartRows) {
    waiting_.push_back({.kind = TaskKind::kEvaluate,
                        .split = split,
                        .rows = {begin, std::min(begin + kPartRows, rows.end)},
                        .snapshot = snapshot_});
  }
}

std::optional<Evaluation> Evaluations::Conclude() {
  under_way_ = false;
  if (keeps_ == Keeps::kBestLanes) return current_;
  const bool better =
      !best_ || rows_.valid == 0 || current_.valid->mean_loss() < best_->valid->mean_loss();
  if (WhyDiverged(current_).empty() && better) {
    best_ = current_;
    best_snapshot_ = snapshot_;
  }
  if (best_ && !first_loss_) first_loss_ = DecidingLoss(current_);
  return current_;
}

void Evaluations::KeepLanes(std::vector<std::int64_t> lanes) {
  if (lanes.empty()) return;
  best_ = current_;
  under_way_ = true;
  waiting_.push_back({.kind = TaskKind::kKeepLanes,
                      .rows = {},
                      .kept_lanes = std::move(lanes),
                      .snapshot = snapshot_});
}

bool Evaluations::SkipTrainingRows() {
  skip_training_rows_ = true;
  current_.train.reset();
  std::erase_if(waiting_, [](const Task& task) {
    return task.kind == TaskKind::kEvaluate && task.split == Split::kTrain;
  });
  const bool empty = !snapshot_wanted_ && waiting_.empty() && handed_out_ == 0;
  if (!under_way_ || !empty) return true;
  Abandon();
  return false;
}

void Evaluations::Abandon() {
  under_way_ = snapshot_wanted_ = false;
  waiting_.clear();
}

std::string WhyDiverged(const Evaluation& evaluation, std::optional<double> first_loss) {
  if (!IsFinite(evaluation)) return "the loss is NaN or infinite";
  const std::optional<double> loss = DecidingLoss(evaluation);
  if (!loss || !first_loss || *loss <= kExplosion * std::max(1.0, *first_loss)) return "";
  return fmt::format("the loss rose from {:.4g} to {:.4g}", *first_loss, *loss);
}

std::optional<double> DecidingLoss(const Evaluation& evaluation) {
  if (evaluation.valid) return evaluation.valid->mean_loss();
  if (evaluation.train) return evaluation.train->mean_loss();
  return std::nullopt;
}

}  // namespace hogbatch
