// Rows of outputs as lines of text.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/ids.h"
#include "datasets/schema.h"
#include "nn/model_spec.h"

namespace hogbatch {

struct PredictionFormat {
  bool probabilities = false;
  std::int64_t top = 0;  // multi-label: print this many per row; 0: those of at least 50 %
};

// The line that names the columns; empty without probabilities, and for numbers.
std::string PredictionHeader(const Schema& schema, const PredictionFormat& format);

// One line for each row of raw outputs.
std::string PredictionLines(const Schema& schema, Loss loss, std::span<const float> outputs,
                            const PredictionFormat& format);

// Puts pieces that arrive in any order back into the order of their rows.
class RowOrder {
 public:
  // Everything that is now complete from where the last call ended; often nothing.
  std::string Add(RowRange rows, std::string text);

 private:
  struct Piece {
    std::int64_t end;
    std::string text;
  };
  std::int64_t next_ = 0;
  std::map<std::int64_t, Piece> waiting_;  // by first row
};

}  // namespace hogbatch
