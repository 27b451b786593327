#pragma once

#include <cstdint>

namespace hogbatch {

enum class Activation : std::uint8_t {
  kIdentity,
  kSigmoid,
  kTanh,
  kRelu,
  kGelu,  // the tanh form
};

}  // namespace hogbatch
