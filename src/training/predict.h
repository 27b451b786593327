// Predictions of a trained network, and how good they are.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/evaluation.h"
#include "core/ids.h"
#include "datasets/dataset.h"
#include "nn/classification.h"
#include "training/devices/devices.h"
#include "training/model/model_file.h"

namespace hogbatch {

// The devices of --devices that predict. UserError if one of them has no room for the network. To
// be called before a large file is read.
std::vector<DeviceChoice> DevicesToInfer(std::string_view devices, const ModelSpec& network);

// Gives `sink` the raw outputs (rows × outputs; of an ensemble those of its mean) of parts of the
// data, in any order but one at a time. UserError for outputs that are not finite, with the number
// of the row: `rows_before` rows of the file were in earlier calls.
void Predict(const std::vector<DeviceChoice>& devices, const SavedModel& model, const Dataset& data,
             const std::function<void(RowRange rows, std::span<const float> outputs)>& sink,
             std::int64_t rows_before = 0);

// How good a model is on rows with labels.
struct ModelQuality {
  // Of classes only.
  struct ByClass {
    ConfusionMatrix confusion;
    std::optional<double> auc = {};  // none where it would take more than 1 GB, or is undefined
    double calibration_error = 0;
  };
  // Of several labels per row only.
  struct ByLabel {
    double micro_f1 = 0;
    double macro_f1 = 0;
  };
  // Of numbers only, on the scale of the labels.
  struct OfNumbers {
    double mean_absolute_error = 0;
    std::optional<double> r2 = {};
  };
  EvaluationSums sums;
  std::optional<ByClass> classes = {};
  std::optional<ByLabel> labels = {};
  std::optional<OfNumbers> numbers = {};
};
ModelQuality Evaluate(const std::vector<DeviceChoice>& devices, const SavedModel& model,
                      const Dataset& data);
// Loss and metrics of some rows only.
EvaluationSums EvaluateRows(const std::vector<DeviceChoice>& devices, const SavedModel& model,
                            const Dataset& data, RowRange rows);

}  // namespace hogbatch
