#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/data_report.h"
#include "datasets/dataset.h"
#include "training/input.h"

namespace hogbatch {

int ShowData(const DataInfoOptions& options) {
  ReadOptions read = ReadOptionsOf(options.spec);
  read.valid_fraction = 0;
  read.scaling = ScalingKind::kNone;
  const TrainingData data = ReadTrainingData(options.spec.data, read);
  WriteOutput(options.json ? DataJson(data) : DataText(data));
  return kExitOk;
}

}  // namespace hogbatch
