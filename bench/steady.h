// Rates on a machine that other programs use, too: only moments count in which every thread ran
// without a break. A thread cuts its work into slices of about a millisecond. A slice in which it
// had less processor time than passed is dropped, and so is one beside which another thread was
// interrupted.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/median.h"
#include "bench/processor_time.h"
#include "core/aligned.h"
#include "nn/model_spec.h"
#include "runtime/executors/pinning.h"

namespace hogbatch::bench {

class Slices {
 public:
  // Call after each piece of work.
  void Add(std::int64_t rows) {
    const double now = Wall();
    rows_ += rows;
    if (start_ > 0 && now - start_ < 1e-3) return;
    const double processor = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    if (start_ > 0) {
      const bool is_whole = processor - processor_start_ > 0.985 * (now - start_);
      slices_.push_back({start_, now, is_whole ? static_cast<double>(rows_) : 0});
    }
    start_ = now;
    processor_start_ = processor;
    rows_ = 0;
  }

  struct Slice {
    double begin, end;
    double rows;  // 0: interrupted
  };
  const std::vector<Slice>& slices() const { return slices_; }

 private:
  static double Wall() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  double start_ = 0, processor_start_ = 0;
  std::int64_t rows_ = 0;
  std::vector<Slice> slices_;
};

// Rows per second of all threads together: the sum of their medians over undisturbed slices. 0 if
// there are too few of them.
inline double SteadyRate(const std::vector<Slices>& threads) {
  const auto ran = [](const Slices& other, double at) {
    const auto& all = other.slices();
    const auto after = std::upper_bound(all.begin(), all.end(), at,
                                        [](double t, const auto& slice) { return t < slice.end; });
    return after != all.end() && after->begin <= at && after->rows > 0;
  };
  double sum = 0;
  for (const Slices& thread : threads) {
    std::vector<double> rates;
    for (const Slices::Slice& slice : thread.slices()) {
      const bool steady =
          slice.rows > 0 && std::all_of(threads.begin(), threads.end(), [&](auto& t) {
            return &t == &thread || (ran(t, slice.begin) && ran(t, slice.end));
          });
      if (steady) rates.push_back(slice.rows / (slice.end - slice.begin));
    }
    if (rates.size() < 3) return 0;
    sum += Median(rates);
  }
  return sum;
}

// Nanoseconds that a cache line takes from the first core to the second: 30 if they share a cache,
// 160 across a processor. A virtual machine may be moved from one to the other at any time.
inline double LineNanoseconds() {
  if (std::thread::hardware_concurrency() < 2) return 0;
  constexpr int kPasses = 2000;
  const Cores cores;
  std::vector<double> rounds;
  for (int round = 0; round < 15; ++round) {
    std::atomic<int> ball = 0;
    double seconds = 0;
    const auto play = [&](int core) {
      cores.PinThisThread(core);
      std::chrono::steady_clock::time_point start;
      for (int i = core; i < kPasses; i += 2) {
        while (ball.load(std::memory_order_acquire) != i) {
        }
        if (i == core) start = std::chrono::steady_clock::now();
        ball.store(i + 1, std::memory_order_release);
      }
      if (core == 0) {
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
    };
    {
      const std::jthread first([&] { play(0); }), second([&] { play(1); });
    }
    rounds.push_back(seconds * 1e9 / kPasses);
  }
  return *std::min_element(rounds.begin(), rounds.end());  // the others were interrupted
}

// Examples per second of threads that do `Work` on the same weights, each on its own rows.
template <typename Work>
double RateOf(const ModelSpec& spec, int threads, std::int64_t rows, double seconds) {
  const ParameterLayout layout = Layout(spec);
  const AlignedFloats weights(layout.floats);
  const Cores cores;
  std::vector<Slices> slices(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> pool;
    for (int i = 0; i < threads; ++i) {
      pool.emplace_back([&, i] {
        cores.PinThisThread(i);
        Work work(layout, weights, rows);
        using Clock = std::chrono::steady_clock;
        const auto end = Clock::now() + std::chrono::duration<double>(seconds);
        while (Clock::now() < end) {
          work.Once();
          slices[static_cast<std::size_t>(i)].Add(rows);
        }
      });
    }
  }
  return SteadyRate(slices);
}

}  // namespace hogbatch::bench
