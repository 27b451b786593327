#include "algorithms/adaptive_options.h"

namespace hogbatch {

void AdaptiveOptions::Visit(OptionVisitor& visitor) {
  visitor.Number("alpha", alpha, {1.01, 16},
                 "adaptive: the factor by which the batch size grows or shrinks");
  visitor.Number("beta", beta, {0, 1},
                 "adaptive: what an update of a CPU thread counts, against 1 for a GPU's");
  visitor.Number("adapt-band", adapt_band, {0, 0.5},
                 "adaptive: counts of updates that differ by less than this share of all updates "
                 "are even; 0 is the published rule");
}

}  // namespace hogbatch
