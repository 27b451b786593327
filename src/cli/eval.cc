#include "cli/commands.h"
#include "cli/console.h"
#include "cli/reports/eval_report.h"
#include "datasets/dataset.h"
#include "training/model/ensemble.h"
#include "training/model/labels.h"
#include "training/model/model_file.h"
#include "training/predict.h"

namespace hogbatch {
namespace {

EvalReport MakeReport(const SavedModel& model, const ModelQuality& quality) {
  EvalReport report{.sums = quality.sums, .scale = ScaleOf(model.spec, model.schema)};
  if (quality.classes) {
    report.classes = ClassReport{.confusion = quality.classes->confusion,
                                 .auc = quality.classes->auc,
                                 .calibration_error = quality.classes->calibration_error,
                                 .names = model.schema.label_names};
  }
  if (quality.labels) {
    report.more = {{"micro_f1", quality.labels->micro_f1}, {"macro_f1", quality.labels->macro_f1}};
  }
  if (quality.numbers) {
    report.more = {{"mae", quality.numbers->mean_absolute_error}};
    if (quality.numbers->r2) report.more.push_back({"r2", *quality.numbers->r2});
  }
  return report;
}

}  // namespace

int Eval(const EvalOptions& options) {
  options.of.Require("eval", "test.csv");
  const SavedModel model = LoadModel(options.of.model);
  const std::vector<DeviceChoice> devices = DevicesToInfer(options.of.devices, model.spec);
  const Dataset data =
      ReadWithSchema(options.of.data, model.schema, Labels::kRequired, options.of.reading.Parse());
  for (const std::string& note : data.notes) Complain(note);
  EvalReport report = MakeReport(model, Evaluate(devices, model, data));
  for (std::int64_t i = 0; IsEnsemble(model) && i < model.spec.lanes; ++i) {
    report.members.push_back(EvaluateRows(devices, MemberOf(model, i), data, {0, data.rows}));
  }
  if (options.importance) report.importance = MeasureImportance(devices, model, data);
  WriteOutput(options.json ? EvalJson(report) : EvalText(report));
  return kExitOk;
}

}  // namespace hogbatch
