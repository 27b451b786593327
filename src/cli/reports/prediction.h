// Rows of outputs as lines of text.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/ids.h"
#include "datasets/schema.h"
#include "nn/model_spec.h"
#include "training/model/labels.h"

namespace hogbatch {

struct PredictionFormat {
  bool probabilities = false;
  LabelChoice labels = {};
  bool json = false;     // JSON lines
  char delimiter = ',';  // of the input's columns, where they are repeated
};

// UserError for an option that does not fit the labels of a model.
void CheckFormat(const Schema& schema, const PredictionFormat& format);

// The line that names the columns; empty without probabilities or `input_header`, and for JSON.
// `input_header` is the line that names the columns of the input, if they are repeated.
std::string PredictionHeader(const Schema& schema, const PredictionFormat& format,
                             std::string_view input_header = {});

// One line for each row of raw outputs. `rows` are those of the input, to be repeated; or none.
std::string PredictionLines(const Schema& schema, Loss loss, std::span<const float> outputs,
                            const PredictionFormat& format, std::span<const std::string> rows = {});

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
