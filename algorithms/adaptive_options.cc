#include "algorithms/adaptive_options.h"

namespace hogbatch {

void AdaptiveOptions::Visit(OptionVisitor& visitor) {
  visitor.Number("alpha", alpha, {1.01, 16},
                 "adaptive: factor by which a batch size grows or shrinks");
  visitor.Number("beta", beta, {0, 1},
                 "adaptive: how much an update of a CPU thread counts; one of a GPU counts 1");
  visitor.Number("adapt-band", adapt_band, {0, 0.5},
                 "adaptive: two teams are even if their counts of updates differ by less than this "
                 "share of all updates; 0 applies the published rule");
}

}  // namespace hogbatch
