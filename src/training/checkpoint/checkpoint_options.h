// How often a run that is kept on disk is saved.
#pragma once

#include "core/options.h"

namespace hogbatch {

struct CheckpointOptions {
  double every = 30;  // seconds

  void Visit(OptionVisitor& visitor) {
    visitor.Number("checkpoint-every", every, {0.001, 1e9},
                   "Seconds between checkpoints, from which --resume goes on");
  }
};

}  // namespace hogbatch
