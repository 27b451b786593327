#include "runtime/store/parameter_store.h"

#include <cmath>

#include "core/clones.h"
#include "core/racy.h"

namespace hogbatch {
namespace {

// Without __restrict: with it the loop becomes a call of memcpy, which may copy a float in pieces.
HOGBATCH_CLONES void ReadFloats(const float* from, std::size_t floats, float* to) {
  for (std::size_t i = 0; i < floats; ++i) to[i] = RacyLoad(from + i);
}
HOGBATCH_CLONES void WriteFloats(const float* from, std::size_t floats, float* to) {
  for (std::size_t i = 0; i < floats; ++i) RacyStore(to + i, from[i]);
}
HOGBATCH_CLONES void AddFloats(const float* __restrict what, std::size_t floats,
                               float* __restrict to) {
  for (std::size_t i = 0; i < floats; ++i) RacyStore(to + i, RacyLoad(to + i) + what[i]);
}
HOGBATCH_CLONES void BlendFloats(const float* __restrict what, float share, std::size_t floats,
                                 float* __restrict to) {
  for (std::size_t i = 0; i < floats; ++i) {
    const float before = RacyLoad(to + i);
    RacyStore(to + i, before + (what[i] - before) * share);
  }
}

HOGBATCH_CLONES bool AllFloatsWithin(const float* floats, std::size_t count, float most) {
  unsigned beyond = 0;
  for (std::size_t i = 0; i < count; ++i) beyond |= !(std::abs(floats[i]) <= most);
  return beyond == 0;
}

}  // namespace

void ParameterStore::Read(std::int64_t at, std::span<float> to) const {
  ReadFloats(floats_.data() + at, to.size(), to.data());
}

void ParameterStore::Add(std::int64_t at, std::span<const float> what) {
  AddFloats(what.data(), what.size(), floats_.data() + at);
}

void ParameterStore::Blend(std::int64_t at, std::span<const float> what, float share) {
  BlendFloats(what.data(), share, what.size(), floats_.data() + at);
}

void ParameterStore::Write(std::int64_t at, std::span<const float> what) {
  WriteFloats(what.data(), what.size(), floats_.data() + at);
}

bool AllWithin(std::span<const float> floats, float most) {
  return AllFloatsWithin(floats.data(), floats.size(), most);
}

}  // namespace hogbatch
