#include "training/predict.h"

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/reports/prediction.h"
#include "core/replaced_file.h"
#include "datasets/dataset.h"
#include "training/model/model_file.h"

namespace hogbatch {

int Predict(const PredictOptions& options) {
  const SavedModel model = LoadModel(options.model);
  const std::vector<DeviceChoice> devices = DevicesToInfer(options.devices, model.spec);
  const Dataset data = ReadWithSchema(options.data, model.schema, Labels::kOptional,
                                      {.fills_columns = options.missing_columns == "fill",
                                       .memory_bytes = ParseMemoryLimit(options.memory_limit)});
  for (const std::string& note : data.notes) Complain(note);

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
  Predict(devices, model, data, [&](RowRange rows, std::span<const float> outputs) {
    write(order.Add(rows, PredictionLines(model.schema, model.spec.loss, outputs, format)));
  });
  if (!options.out.empty()) ReplaceFile(options.out, for_file, NamedBy::kUser);
  return kExitOk;
}

}  // namespace hogbatch
