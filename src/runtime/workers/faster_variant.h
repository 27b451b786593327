// Which of two variants of the same computation is faster, found by timing both now and then.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace hogbatch {

// Each variant is tried for some updates, and the faster one then goes on for many. The longer it
// stays the faster one, the rarer are the trials.
class FasterVariant {
 public:
  // The variant of the next update: 0 or 1.
  int present() const { return second_; }

  // An update was made: how long each of its rows took.
  void Add(double seconds_per_row) {
    if (phase_ < 2) tried_[second_][updates_] = seconds_per_row;
    ++updates_;
    if (updates_ < (phase_ < 2 ? kTrial : run_)) return;
    updates_ = 0;
    phase_ = (phase_ + 1) % 3;
    if (phase_ == 1) {
      second_ = !second_;
    } else if (phase_ == 2) {
      const bool second_is_faster = Median(tried_[0]) > Median(tried_[1]);
      run_ = second_is_faster == winner_ ? std::min(2 * run_, kLongest) : kShortest;
      second_ = winner_ = second_is_faster;
    }
  }

 private:
  static constexpr std::size_t kTrial = 12, kShortest = 400, kLongest = 3200;
  using Trial = std::array<double, kTrial>;

  // An update during which another program had the core does not count.
  static double Median(Trial& updates) {
    const auto middle = updates.begin() + kTrial / 2;
    std::nth_element(updates.begin(), middle, updates.end());
    return *middle;
  }

  int phase_ = 0;  // a trial of one variant, of the other, and then the faster one
  bool second_ = false;
  bool winner_ = false;  // the second one
  std::size_t updates_ = 0;
  std::size_t run_ = kShortest;
  std::array<Trial, 2> tried_ = {};
};

}  // namespace hogbatch
