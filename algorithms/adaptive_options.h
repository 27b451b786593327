// The user's options of Adaptive Hogbatch: default, name, range and help in one place.
#pragma once

#include "core/options.h"

namespace hogbatch {

struct AdaptiveOptions {
  double alpha = 2;          // batch sizes change by this factor; above 1
  double beta = 1;           // what an update of a CPU thread counts, 0 to 1
  double adapt_band = 0.02;  // share of all updates by which counts may differ and still be even

  void Visit(OptionVisitor& visitor);
};

}  // namespace hogbatch
