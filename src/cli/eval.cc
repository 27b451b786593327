#include <algorithm>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/eval_report.h"
#include "cli/prediction.h"
#include "datasets/dataset.h"
#include "nn/classification.h"
#include "nn/metrics.h"
#include "runtime/batches/batch.h"
#include "runtime/executors/inference.h"
#include "training/devices.h"
#include "training/memory_check.h"
#include "training/model_file.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kMaxScores = std::int64_t{1} << 28;  // 1 GB kept for the AUC

// Takes in outputs part by part.
class Evaluator {
 public:
  Evaluator(const SavedModel& model, const Dataset& data)
      : model_(model), data_(data), columns_(model.spec.outputs), confusion_(0) {
    if (!by_class()) return;
    confusion_ = ConfusionMatrix(columns_);
    if (data.rows * columns_ <= kMaxScores) {
      scores_.resize(static_cast<std::size_t>(data.rows * columns_));
    }
  }

  void Add(RowRange rows, std::span<const float> outputs) {
    CheckFinite(data_.source, rows, outputs);
    sums_ += Evaluate(model_.spec.loss, outputs, columns_, ViewHostTargets(data_, rows), {});
    if (by_class()) AddClasses(rows, outputs);
  }

  EvalReport Report() const {
    EvalReport report{
        .sums = sums_,
        .scale = {.loss = model_.spec.loss, .target_deviation = model_.schema.target_deviation}};
    if (!by_class()) return report;
    report.classes = ClassReport{.confusion = confusion_, .names = model_.schema.label_names};
    if (!scores_.empty()) report.classes->auc = Auc(scores_, data_.classes, columns_);
    return report;
  }

 private:
  bool by_class() const { return model_.schema.label_kind == LabelKind::kClass; }

  void AddClasses(RowRange rows, std::span<const float> outputs) {
    const auto columns = static_cast<std::size_t>(columns_);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const auto one =
          outputs.subspan(static_cast<std::size_t>(row - rows.begin) * columns, columns);
      const auto best = std::max_element(one.begin(), one.end()) - one.begin();
      confusion_.Add(data_.classes[static_cast<std::size_t>(row)], static_cast<std::int32_t>(best));
    }
    if (scores_.empty()) return;
    // Raw outputs do not compare across rows; probabilities do.
    std::vector<float> probabilities(outputs.begin(), outputs.end());
    ToProbabilities(model_.spec.loss, probabilities, columns_);
    std::ranges::copy(probabilities, scores_.begin() + rows.begin * columns_);
  }

  const SavedModel& model_;
  const Dataset& data_;
  std::int64_t columns_;
  EvaluationSums sums_;
  ConfusionMatrix confusion_;
  std::vector<float> scores_;
};

}  // namespace

int Eval(const EvalOptions& options) {
  const std::vector<DeviceChoice> devices =
      ChooseDevices(options.devices, ThisMachine(), Purpose::kInference);
  const SavedModel model = LoadModel(options.model);
  CheckInferenceFits(devices, model.spec);
  const Dataset data = ReadWithSchema(options.data, model.schema, Labels::kRequired);

  Evaluator evaluator(model, data);
  Infer(FactoriesOf(devices), model.spec, model.parameters, data,
        [&](RowRange rows, std::span<const float> outputs) { evaluator.Add(rows, outputs); });
  const EvalReport report = evaluator.Report();
  WriteOutput(options.json ? EvalJson(report) : EvalText(report));
  return kExitOk;
}

}  // namespace hogbatch
