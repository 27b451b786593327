// The one deliberate race of the program.
//
// Hogwild: every CPU worker adds its gradients to the shared weights without lock or atomic
// operation. Two workers may read a weight, add to it and write it back at the same time, and one
// addition is then lost. Stochastic gradient descent survives that: updates are small, and what is
// lost is a fraction of one of them. What must not happen is a torn float, and no processor we run
// on tears an aligned one.
//
// Release builds use plain loads and stores, so that loops vectorise (relaxed atomics measured 6-11
// times slower). Under ThreadSanitizer the same lines become relaxed atomics: the tool then stays
// silent about this race and finds every other one.
//
// Only memory of the ParameterStore may be touched through these functions, and shared weights may
// be touched in no other way.
#pragma once

#include <atomic>

#if defined(__SANITIZE_THREAD__)
#define HOGBATCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOGBATCH_TSAN 1
#endif
#endif

namespace hogbatch {

inline float RacyLoad(const float* address) {
#ifdef HOGBATCH_TSAN
  return std::atomic_ref<float>(*const_cast<float*>(address)).load(std::memory_order_relaxed);
#else
  return *address;
#endif
}

inline void RacyStore(float* address, float value) {
#ifdef HOGBATCH_TSAN
  std::atomic_ref<float>(*address).store(value, std::memory_order_relaxed);
#else
  *address = value;
#endif
}

}  // namespace hogbatch
