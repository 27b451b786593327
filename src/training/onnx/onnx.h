// A model as an ONNX file, for other programs.
#pragma once

#include <string>

#include "training/model/model_file.h"

namespace hogbatch {

// The file: filling, one-hot columns and scaling are in it. Its inputs are
//   numbers  rows × columns, float; of a CSV the columns of numbers in their order, NaN: missing
//   dates    rows × columns, double: days since 1970-01-01, NaN: missing
//   NAME     rows × 1, string, for each column of words; "": missing
// of which those without columns are left out. Its outputs are `probabilities` (rows × outputs) and
// for classes `label` (rows), or `value` (rows × 1). UserError for a column that ONNX cannot
// express.
std::string ToOnnx(const SavedModel& model);

}  // namespace hogbatch
