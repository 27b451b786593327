#include "tests/runtime/ledger/row_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace hogbatch {
namespace {

void Enter(RowRange rows, std::vector<int>& times) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row) ++times[row];
}

std::int64_t Sum(const std::vector<int>& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

}  // namespace

class WatchedWorker : public Worker {
 public:
  WatchedWorker(std::unique_ptr<Worker> worker, RowLedger& ledger, JobMemory& memory,
                RowLedger::Company company)
      : worker_(std::move(worker)), ledger_(ledger), memory_(memory), company_(company) {}

  void Compute(const Task& task, int merge) override {
    Call(task, merge, &Worker::Compute);
    // Or the rows could not go back if something fails before Commit.
    EXPECT_FALSE(task.kind == TaskKind::kTrain && model_changed());
  }

  void Commit(const Task& task, int merge) override {
    Call(task, merge, &Worker::Commit);
    if (task.kind == TaskKind::kApply) ledger_.Apply(task, memory_);
    if (task.kind != TaskKind::kTrain) return;
    if (task.hold) return ledger_.Hold(task);
    ledger_.Train(Part(task.rows, merge, task.merges));
  }

  bool merge_is_torn() const override { return worker_->merge_is_torn(); }
  Report Finish(const Task& task) override { return worker_->Finish(task); }

 private:
  void Call(const Task& task, int merge, void (Worker::*call)(const Task&, int)) {
    if (company_ == RowLedger::Company::kAlone) {
      before_.assign(memory_.store.idle_weights().begin(), memory_.store.idle_weights().end());
    }
    try {
      (worker_.get()->*call)(task, merge);
    } catch (...) {
      if (task.kind == TaskKind::kTrain) Broke(task, merge);
      throw;
    }
  }

  void Broke(const Task& task, int merge) {
    if (worker_->merge_is_torn()) {
      EXPECT_FALSE(task.hold) << "a held gradient changes nothing";
      ledger_.Lose(Part(task.rows, merge, task.merges));
    } else {
      EXPECT_FALSE(model_changed()) << "a merge was torn and its worker does not know";
    }
  }

  bool model_changed() const {
    return company_ == RowLedger::Company::kAlone &&
           !std::ranges::equal(before_, memory_.store.idle_weights());
  }

  std::unique_ptr<Worker> worker_;
  RowLedger& ledger_;
  JobMemory& memory_;
  RowLedger::Company company_;
  std::vector<float> before_;
};

std::unique_ptr<Worker> RowLedger::Watch(std::unique_ptr<Worker> worker, JobMemory& memory,
                                         Company company) {
  return std::make_unique<WatchedWorker>(std::move(worker), *this, memory, company);
}

void RowLedger::Train(RowRange rows) {
  const std::scoped_lock lock(mutex_);
  Enter(rows, trained_);
}

void RowLedger::Lose(RowRange rows) {
  const std::scoped_lock lock(mutex_);
  Enter(rows, lost_);
}

void RowLedger::Hold(const Task& task) {
  const std::scoped_lock lock(mutex_);
  steps_[task.round].rows.push_back(task.rows);
}

void RowLedger::Apply(const Task& task, const JobMemory& memory) {
  const std::scoped_lock lock(mutex_);
  Step& step = steps_[task.round];
  std::int64_t in_books = 0, in_gradients = 0;
  for (const RowRange& rows : step.rows) in_books += rows.size();
  for (const HeldGradient& held : memory.held) {
    in_gradients += held.round == task.round ? held.rows : 0;
  }
  EXPECT_EQ(in_gradients, in_books) << "a step takes gradients that are not its own";
  EXPECT_TRUE(step.slices.insert(task.slice).second) << "a slice was applied twice";
  if (step.slices.size() < static_cast<std::size_t>(task.slices)) return;
  for (const RowRange& rows : step.rows) Enter(rows, trained_);
  steps_.erase(task.round);
}

std::int64_t RowLedger::trained() const {
  const std::scoped_lock lock(mutex_);
  return Sum(trained_);
}

std::int64_t RowLedger::lost() const {
  const std::scoped_lock lock(mutex_);
  std::int64_t lost = Sum(lost_);
  for (const auto& [number, step] : steps_) {
    for (const RowRange& rows : step.rows) lost += rows.size();
  }
  return lost;
}

void RowLedger::ExpectBalanced(const RunResult& result, int epochs) const {
  EXPECT_EQ(result.totals.examples, trained());
  EXPECT_EQ(result.totals.lost_rows, lost());
  const bool ended_early = result.stopped_because == StopReason::kNoWorkers;
  for (std::size_t row = 0; row < trained_.size(); ++row) {
    const int times = trained_[row] + lost_[row];
    EXPECT_TRUE(times == epochs || (ended_early && times < epochs))
        << "row " << row << " was trained " << trained_[row] << " times and lost " << lost_[row]
        << " times";
  }
}

}  // namespace hogbatch
