#include "training/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "nn/lanes/lane_mean.h"
#include "nn/metrics.h"
#include "nn/quality.h"
#include "runtime/batches/batch.h"
#include "runtime/executors/inference.h"
#include "training/memory_check.h"
#include "training/model/ensemble.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kMaxScores = std::int64_t{1} << 28;  // 1 GB kept for the AUC

// Outputs that are not finite give neither a loss nor a label, and numbers must fit a float on the
// scale of the labels, too.
void CheckFinite(const Schema& schema, const std::string& source, RowRange rows,
                 std::span<const float> outputs) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto bad = std::ranges::find_if_not(outputs, [&](double x) {
    return std::abs(x) <= kLargest &&
           std::abs(x * schema.target_deviation + schema.target_mean) <= kLargest;
  });
  if (bad == outputs.end()) return;
  const auto columns = static_cast<std::int64_t>(outputs.size()) / rows.size();
  throw UserError(fmt::format(
      "{}: the network's outputs for row {} are not finite: its values are too large for this "
      "model; correct them, or train with --scale standard",
      source, rows.begin + (bad - outputs.begin()) / columns + 1));
}

// Collects outputs part by part.
class Evaluator {
 public:
  Evaluator(const SavedModel& model, const Dataset& data)
      : model_(model),
        data_(data),
        columns_(model.spec.outputs),
        confusion_(0),
        labels_(model.spec.outputs) {
    if (!by_class()) return;
    confusion_ = ConfusionMatrix(columns_);
    if (data.rows * columns_ <= kMaxScores) {
      scores_.resize(data.rows * columns_);
    }
  }

  void Add(RowRange rows, std::span<const float> outputs) {
    sums_ += Evaluate(model_.spec.loss, outputs, columns_, ViewHostTargets(data_, rows), {});
    switch (model_.schema.label_kind) {
      case LabelKind::kClass:
        return AddClasses(rows, outputs);
      case LabelKind::kMultiLabel:
        return AddLabels(rows, outputs);
      case LabelKind::kValue:
        return AddNumbers(rows, outputs);
    }
  }

  ModelQuality Result() const {
    ModelQuality quality{.sums = sums_};
    switch (model_.schema.label_kind) {
      case LabelKind::kClass:
        quality.classes = ModelQuality::ByClass{.confusion = confusion_,
                                                .calibration_error = calibration_.value()};
        if (!scores_.empty()) quality.classes->auc = Auc(scores_, data_.classes, columns_);
        break;
      case LabelKind::kMultiLabel:
        quality.labels =
            ModelQuality::ByLabel{.micro_f1 = labels_.micro(), .macro_f1 = labels_.macro()};
        break;
      case LabelKind::kValue:
        quality.numbers = ModelQuality::OfNumbers{.mean_absolute_error = numbers_.mean_absolute(),
                                                  .r2 = numbers_.r2()};
    }
    return quality;
  }

 private:
  bool by_class() const { return model_.schema.label_kind == LabelKind::kClass; }

  void AddClasses(RowRange rows, std::span<const float> outputs) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const auto one = outputs.subspan((row - rows.begin) * columns_, columns_);
      const auto best = std::max_element(one.begin(), one.end()) - one.begin();
      confusion_.Add(data_.classes[row], static_cast<std::int32_t>(best));
    }
    // Raw outputs do not compare across rows; probabilities do.
    const std::vector<float> probabilities = ProbabilitiesOf(outputs);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const auto one = std::span(probabilities).subspan((row - rows.begin) * columns_, columns_);
      const auto best = std::ranges::max_element(one);
      calibration_.Add(*best, best - one.begin() == data_.classes[row]);
    }
    if (!scores_.empty()) std::ranges::copy(probabilities, scores_.begin() + rows.begin * columns_);
  }

  void AddLabels(RowRange rows, std::span<const float> outputs) {
    const std::vector<float> probabilities = ProbabilitiesOf(outputs);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const std::int64_t begin = data_.label_offsets[row];
      labels_.Add(std::span(probabilities).subspan((row - rows.begin) * columns_, columns_),
                  std::span(data_.labels).subspan(begin, data_.label_offsets[row + 1] - begin));
    }
  }

  void AddNumbers(RowRange rows, std::span<const float> outputs) {
    const auto number = [&](double x) {
      return x * model_.schema.target_deviation + model_.schema.target_mean;
    };
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      numbers_.Add(number(data_.targets[row]), number(outputs[row - rows.begin]));
    }
  }

  std::vector<float> ProbabilitiesOf(std::span<const float> outputs) const {
    std::vector<float> probabilities(outputs.begin(), outputs.end());
    ToProbabilities(model_.spec.loss, probabilities, columns_);
    return probabilities;
  }

  const SavedModel& model_;
  const Dataset& data_;
  std::int64_t columns_;
  EvaluationSums sums_;
  ConfusionMatrix confusion_;
  CalibrationError calibration_;
  LabelF1 labels_;
  NumberErrors numbers_;
  std::vector<float> scores_;
};

}  // namespace

std::vector<DeviceChoice> DevicesToInfer(std::string_view devices, const ModelSpec& network) {
  std::vector<DeviceChoice> chosen = ChooseDevices(devices, ThisMachine(), Purpose::kInference);
  CheckInferenceFits(chosen, network);
  return chosen;
}

namespace {

using OutputsSink = std::function<void(RowRange rows, std::span<const float> outputs)>;

void PredictRows(const std::vector<DeviceChoice>& devices, const SavedModel& model,
                 const Dataset& data, RowRange wanted, std::int64_t rows_before,
                 const OutputsSink& sink) {
  Infer(FactoriesOf(devices), model.spec, model.parameters, data, wanted,
        [&](RowRange rows, std::span<const float> outputs) {
          CheckFinite(model.schema, data.source, {rows.begin + rows_before, rows.end + rows_before},
                      outputs);
          if (!IsEnsemble(model)) return sink(rows, outputs);
          sink(rows, MeanOfLanes(model.spec.loss, outputs, model.spec.lanes, model.spec.outputs));
        });
}

}  // namespace

void Predict(const std::vector<DeviceChoice>& devices, const SavedModel& model, const Dataset& data,
             const OutputsSink& sink, std::int64_t rows_before) {
  PredictRows(devices, model, data, {0, data.rows}, rows_before, sink);
}

EvaluationSums EvaluateRows(const std::vector<DeviceChoice>& devices, const SavedModel& model,
                            const Dataset& data, RowRange rows) {
  EvaluationSums sums;
  PredictRows(devices, model, data, rows, 0, [&](RowRange part, std::span<const float> outputs) {
    sums += Evaluate(model.spec.loss, outputs, model.spec.outputs, ViewHostTargets(data, part), {});
  });
  return sums;
}

ModelQuality Evaluate(const std::vector<DeviceChoice>& devices, const SavedModel& model,
                      const Dataset& data) {
  Evaluator evaluator(model, data);
  Predict(devices, model, data,
          [&](RowRange rows, std::span<const float> outputs) { evaluator.Add(rows, outputs); });
  return evaluator.Result();
}

}  // namespace hogbatch
