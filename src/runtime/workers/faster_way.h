// Which of two ways to do the same thing is faster, found by doing both now and then.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace hogbatch {

// Each way is tried for some steps, and the faster one then goes on for many. The longer it stays
// the faster one, the rarer are the trials.
class FasterWay {
 public:
  // The way of the next step: 0 or 1.
  int way() const { return way_; }

  // A step was done: how long each of its rows took.
  void Add(double seconds_per_row) {
    if (phase_ < 2) tried_[static_cast<std::size_t>(way_)][steps_] = seconds_per_row;
    ++steps_;
    if (steps_ < (phase_ < 2 ? kTrial : stretch_)) return;
    steps_ = 0;
    phase_ = (phase_ + 1) % 3;
    if (phase_ == 1) {
      way_ = 1 - way_;
    } else if (phase_ == 2) {
      const int faster = Median(tried_[0]) <= Median(tried_[1]) ? 0 : 1;
      stretch_ = faster == winner_ ? std::min(2 * stretch_, kLongest) : kShortest;
      way_ = winner_ = faster;
    }
  }

 private:
  static constexpr std::size_t kTrial = 12, kShortest = 400, kLongest = 3200;
  using Trial = std::array<double, kTrial>;

  // A step in which another program had the core does not count.
  static double Median(Trial& steps) {
    const auto middle = steps.begin() + kTrial / 2;
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
  }

  int phase_ = 0;  // a trial of one way, of the other, and then the faster one
  int way_ = 0;
  int winner_ = 0;
  std::size_t steps_ = 0;
  std::size_t stretch_ = kShortest;
  std::array<Trial, 2> tried_ = {};
};

}  // namespace hogbatch
