#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/prediction.h"
#include "core/replaced_file.h"
#include "datasets/dataset.h"
#include "runtime/executors/inference.h"
#include "training/devices.h"
#include "training/memory_check.h"
#include "training/model_file.h"

namespace hogbatch {

int Predict(const PredictOptions& options) {
  const std::vector<DeviceChoice> devices =
      ChooseDevices(options.devices, ThisMachine(), Purpose::kInference);
  const SavedModel model = LoadModel(options.model);
  CheckInferenceFits(devices, model.spec);
  const Dataset data = ReadWithSchema(options.data, model.schema, Labels::kOptional);

  const PredictionFormat format{.probabilities = options.probabilities, .top = options.top};
  RowOrder order;
  std::string for_file;
  const auto write = [&](const std::string& text) {
    if (options.out.empty()) {
      WriteOutput(text);
    } else {
      for_file += text;  // a file is whole or not there
    }
  };
  write(PredictionHeader(model.schema, format));
  Infer(FactoriesOf(devices), model.spec, model.parameters, data,
        [&](RowRange rows, std::span<const float> outputs) {
          CheckFinite(data.source, rows, outputs);
          write(order.Add(rows, PredictionLines(model.schema, model.spec.loss, outputs, format)));
        });
  if (!options.out.empty()) ReplaceFile(options.out, for_file);
  return kExitOk;
}

}  // namespace hogbatch
