// Which trial of a sweep trains next, and how far: a source of jobs. It holds values only: no
// thread, clock or file.
//
// Asynchronous successive halving (ASHA). Rungs are lengths of training. A trial is promoted to the
// next rung when its loss is among the best 1/eta of all that have reached its rung so far. Nothing
// waits for a rung to be complete. With one rung every trial trains to the end, in order: this is
// grid and random search.
//
// While learning rates are high, the losses of a rung say little about those at the end, and the
// winner may be among those that were stopped. So what halving leaves of a fifth of all epochs goes
// to further trials: the best of the highest rung.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace hogbatch {

class Tuner {
 public:
  // A trial trains from the end of the rung before up to the end of this one.
  struct Stage {
    std::size_t trial = 0;
    std::size_t rung = 0;
    bool operator==(const Stage&) const = default;
  };
  // kNo: the trial has stopped by a rule of its own, or failed, and is never promoted.
  enum class Promotable : std::uint8_t { kYes, kNo };

  // `rungs`: their lengths in epochs.
  Tuner(std::size_t trials, std::vector<double> rungs, double eta);

  // What a sweep that was stopped has done. Before Next, at most once for each trial. `losses` are
  // those of the rungs that it has reached, in order.
  void Restore(std::size_t trial, std::span<const double> losses, Promotable promotable);
  // The same for a trial that was on its way to the rung behind these.
  void RestoreUnfinished(std::size_t trial, std::span<const double> losses);

  // The next stage to train: an unfinished one, a promotion to the highest rung, a new trial,
  // or, when no stage under way can lead to a promotion, a further trial. None: nothing to train
  // now.
  std::optional<Stage> Next();
  // A loss that is not finite counts among the results of the rung, and is never promoted.
  void Finish(Stage stage, double loss, Promotable promotable);

  // No stage is under way, and there will be none.
  bool done() const;
  std::size_t under_way() const { return under_way_; }

 private:
  struct Result {
    double loss = 0;
    std::size_t trial = 0;
    bool is_promotable = true;  // and was not promoted yet
  };

  std::optional<Stage> Promotion() const;
  // The best of the highest rung that has any, as many as may train to the end; none as long as a
  // promotion may come.
  std::vector<Stage> Further() const;
  bool have_all_begun() const { return next_trial_ == begun_.size(); }
  void MarkChosen(Stage stage);
  void HandOut(Stage stage);

  std::vector<double> lengths_;               // of the rungs
  std::vector<std::vector<Result>> results_;  // of each rung, the best first
  double eta_;
  double spent_ = 0;              // epochs of all stages that were handed out
  std::vector<bool> begun_;       // by trial
  std::size_t next_trial_ = 0;    // all before it have begun
  std::deque<Stage> unfinished_;  // of a sweep that was stopped; then those that are chosen
  std::size_t under_way_ = 0;
  std::size_t deciding_ = 0;  // of them, those that are not on their way to the last rung
};

// The lengths of the rungs in epochs: min_epochs · eta^k below `epochs`, and `epochs`.
std::vector<double> MakeRungs(double min_epochs, double epochs, double eta);

// About how many epochs a search trains in all: `trials` begin, and 1/eta of them go on after each
// rung; then further ones.
double ExpectedEpochs(std::size_t trials, std::span<const double> rungs, double eta);

}  // namespace hogbatch
