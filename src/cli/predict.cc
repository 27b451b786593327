#include "training/predict.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/data/overwrite.h"
#include "cli/reports/prediction.h"
#include "core/error.h"
#include "core/replaced_file.h"
#include "datasets/dataset.h"
#include "datasets/row_blocks.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{32} << 20;

// Standard output, or a file that is whole or not there.
class Sink {
 public:
  explicit Sink(const std::string& path) {
    if (!path.empty()) file_.emplace(path, NamedBy::kUser);
  }
  void Write(const std::string& text) {
    if (file_) {
      file_->Write(std::as_bytes(std::span(text)));
    } else {
      WriteOutput(text);
    }
  }
  void Close() {
    if (file_) file_->Commit();
  }

 private:
  std::optional<ReplacedFile> file_;
};

void PredictRows(const std::vector<DeviceChoice>& devices, const SavedModel& model,
                 const RowBlock& block, std::int64_t rows_before, const PredictionFormat& format,
                 Sink& sink) {
  for (const std::string& note : block.data.notes) Complain(note);
  RowOrder order;
  const auto write = [&](RowRange rows, std::span<const float> outputs) {
    std::span<const std::string> texts = block.rows;
    if (!texts.empty()) {
      texts = texts.subspan(rows.begin, rows.size());
    }
    sink.Write(
        order.Add(rows, PredictionLines(model.schema, model.spec.loss, outputs, format, texts)));
  };
  Predict(devices, model, block.data, write, rows_before);
}

// --with-input repeats the rows of the input, so they must be text with columns.
void CheckRepeats(const RowBlocks& blocks, const PredictOptions& options, const Schema& schema) {
  if (!options.with_input) return;
  if (schema.format != FileFormat::kCsv) {
    throw UserError(fmt::format("--with-input: {} files have no columns to repeat; leave it out",
                                Title(schema.format)));
  }
  if (options.json && !blocks.is_json()) {
    throw UserError("--with-input --json: only JSON lines are repeated as JSON; leave out --json");
  }
}

}  // namespace

int Predict(const PredictOptions& options) {
  options.of.Require("predict", "new.csv");
  RefuseOverwrite(options.out, {options.of.model, options.of.data});
  const SavedModel model = LoadModel(options.of.model);
  PredictionFormat format{.probabilities = options.probabilities,
                          .labels = {.top = options.top, .threshold = options.threshold},
                          .json = options.json};
  CheckFormat(model.schema, format);
  const std::vector<DeviceChoice> devices = DevicesToInfer(options.of.devices, model.spec);
  const ReadOptions read = options.of.reading.Parse();
  Sink sink(options.out);
  if (model.schema.format == FileFormat::kIdx) {
    const RowBlock all{
        .data = ReadWithSchema(options.of.data, model.schema, Labels::kOptional, read), .rows = {}};
    sink.Write(PredictionHeader(model.schema, format));
    PredictRows(devices, model, all, 0, format, sink);
    sink.Close();
    return kExitOk;
  }
  const auto text = options.with_input ? RowBlocks::Text::kKept : RowBlocks::Text::kDropped;
  RowBlocks blocks(options.of.data, model.schema, read, text, kBlockBytes);
  std::int64_t rows = 0;
  while (const auto block = blocks.Next()) {
    if (rows == 0) {
      CheckRepeats(blocks, options, model.schema);
      format.json = format.json || (options.with_input && blocks.is_json());
      if (options.with_input) format.delimiter = blocks.delimiter();
      sink.Write(PredictionHeader(model.schema, format, options.with_input ? blocks.header() : ""));
    }
    PredictRows(devices, model, *block, rows, format, sink);
    rows += block->data.rows;
  }
  sink.Close();
  return kExitOk;
}

}  // namespace hogbatch
