#include "training/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/overwrite.h"
#include "cli/files.h"
#include "cli/reports/live_line.h"
#include "cli/train_observer.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "core/text.h"
#include "training/model/model_file.h"
#include "training/onnx/onnx.h"

namespace hogbatch {
namespace {

int ExportOnnx(const ExportOptions& options) {
  if (options.spec.data.empty()) {
    throw UserError(
        "export --onnx needs a model; for example: hogbatch export model.safetensors "
        "--onnx model.onnx");
  }
  RefuseOverwrite(options.onnx, {options.spec.data});
  ReplaceFile(options.onnx, ToOnnx(LoadModel(options.spec.data)), NamedBy::kUser);
  return kExitOk;
}

}  // namespace

int Export(const ExportOptions& options) {
  if (!options.onnx.empty()) return ExportOnnx(options);
  if (options.out.empty()) {
    throw UserError("export needs --out DIR for the rows of DATA, or --onnx FILE for a model");
  }
  Validate(options.spec);
  MakeOutputFolder(options.out);  // before a large file is read
  Console console(IsLiveTerminal(STDOUT_FILENO) ? Verbosity::kLive : Verbosity::kPlain);
  SetupObserver observer(console);
  const TrainingInput input = ReadInput(options.spec, observer);
  std::vector<std::int64_t> seeds = options.init_seeds;
  if (seeds.empty()) seeds.push_back(options.spec.seed);
  Export(input, options.spec, seeds, options.out);
  console.Say(fmt::format("{}: {} rows and {}", options.out,
                          Grouped(input.training.data.rows + (input.test ? input.test->rows : 0)),
                          Plural(std::ssize(seeds), "initial model", "initial models")));
  return kExitOk;
}

}  // namespace hogbatch
