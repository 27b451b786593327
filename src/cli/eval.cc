#include "cli/commands.h"
#include "cli/console.h"
#include "cli/reports/eval_report.h"
#include "datasets/dataset.h"
#include "training/model/model_file.h"
#include "training/predict.h"

namespace hogbatch {
namespace {

EvalReport MakeReport(const SavedModel& model, const ModelQuality& quality) {
  EvalReport report{
      .sums = quality.sums,
      .scale = {.loss = model.spec.loss, .target_deviation = model.schema.target_deviation}};
  if (quality.classes) {
    report.classes = ClassReport{.confusion = quality.classes->confusion,
                                 .auc = quality.classes->auc,
                                 .names = model.schema.label_names};
  }
  return report;
}

}  // namespace

int Eval(const EvalOptions& options) {
  const SavedModel model = LoadModel(options.model);
  const std::vector<DeviceChoice> devices = DevicesToInfer(options.devices, model.spec);
  const Dataset data = ReadWithSchema(
      options.data, model.schema, Labels::kRequired,
      {.labels = options.labels, .memory_bytes = ParseMemoryLimit(options.memory_limit)});
  const EvalReport report = MakeReport(model, Evaluate(devices, model, data));
  WriteOutput(options.json ? EvalJson(report) : EvalText(report));
  return kExitOk;
}

}  // namespace hogbatch
